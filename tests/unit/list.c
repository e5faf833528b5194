/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/list.h"

#include "tests/unit/unit.h"

struct item {
    int value;
    struct vcci_list node;
};

static int value_of(struct vcci_list *node)
{
    return VCCI_CONTAINER(node, struct item, node)->value;
}

START_TEST(is_a_queue)
{
    struct vcci_list head;
    struct item items[5];

    vcci_list_init(&head);
    ck_assert(vcci_list_empty(&head));
    ck_assert_ptr_null(vcci_list_pop(&head));
    for (int i = 0; i < 5; i++) {
        items[i].value = i;
        vcci_list_push(&head, &items[i].node);
    }
    ck_assert(!vcci_list_empty(&head));
    int n = 0;
    VCCI_LIST_EACH (it, &head)
        ck_assert_int_eq(value_of(it), n++);
    ck_assert_int_eq(n, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(value_of(vcci_list_pop(&head)), i);
    ck_assert(vcci_list_empty(&head));
}
END_TEST

START_TEST(removes_anywhere_and_twice)
{
    struct vcci_list head;
    struct item items[5];
    int seen = 0;

    vcci_list_init(&head);
    for (int i = 0; i < 5; i++) {
        items[i].value = i;
        vcci_list_push(&head, &items[i].node);
    }
    vcci_list_remove(&items[2].node);
    vcci_list_remove(&items[2].node);
    vcci_list_remove(&items[0].node);
    vcci_list_remove(&items[4].node);
    VCCI_LIST_EACH_SAFE (it, tmp, &head) {
        seen = seen * 10 + value_of(it);
        vcci_list_remove(it);
    }
    ck_assert_int_eq(seen, 13);
    ck_assert(vcci_list_empty(&head));
}
END_TEST

UNIT_MAIN("list", is_a_queue, removes_anywhere_and_twice)
