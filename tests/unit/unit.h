/* SPDX-License-Identifier: BSD-3-Clause
 * A unit test program: START_TEST(name) { ... } END_TEST for each case, then UNIT_MAIN("object", name, ...). Each case runs in a
 * process of its own. */
#ifndef VCCI_TESTS_UNIT_H
#define VCCI_TESTS_UNIT_H

#include <check.h>
#include <stdlib.h>

/* ck_assert writes to a pipe each time; this one only when it fails, for the inner loops. */
#define UNIT_HOLDS(cond) ((cond) ? (void)0 : ck_abort_msg("%s does not hold", #cond))

#define UNIT_SECONDS 240 /* for one case, on a loaded machine, under a sanitizer */

static inline int unit_run(const char *object, const TTest *const *cases, size_t n)
{
    Suite *suite = suite_create(object);
    TCase *tcase = tcase_create(object);

    tcase_set_timeout(tcase, UNIT_SECONDS);
    for (size_t i = 0; i < n; i++)
        tcase_add_test(tcase, cases[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_MAIN(object, ...)                                                                                                   \
    int main(void)                                                                                                               \
    {                                                                                                                            \
        const TTest *const cases[] = {__VA_ARGS__};                                                                              \
        return unit_run(object, cases, sizeof cases / sizeof *cases);                                                            \
    }

#endif
