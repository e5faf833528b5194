/* SPDX-License-Identifier: BSD-3-Clause
 * Intrusive doubly linked list; a head is a node that is its own neighbour when empty. */
#ifndef VCCI_BASE_LIST_H
#define VCCI_BASE_LIST_H

#include <stddef.h>

struct vcci_list {
    struct vcci_list *next, *prev;
};

#define VCCI_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))
#define VCCI_LIST_EACH(it, head) for (struct vcci_list *it = (head)->next; it != (head); it = it->next)
/* `it` may be removed inside */
#define VCCI_LIST_EACH_SAFE(it, tmp, head)                                                                                          \
    for (struct vcci_list *it = (head)->next, *tmp = it->next; it != (head); it = tmp, tmp = it->next)

static inline void vcci_list_init(struct vcci_list *head)
{
    head->next = head->prev = head;
}
static inline int vcci_list_empty(const struct vcci_list *head)
{
    return head->next == head;
}
static inline void vcci_list_push(struct vcci_list *head, struct vcci_list *node) /* at the tail */
{
    node->next = head;
    node->prev = head->prev;
    head->prev->next = node;
    head->prev = node;
}
static inline void vcci_list_remove(struct vcci_list *node) /* leaves it self-linked: removing twice is harmless */
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = node->prev = node;
}
static inline struct vcci_list *vcci_list_pop(struct vcci_list *head) /* from the front; NULL if empty */
{
    struct vcci_list *node = head->next;
    if (node == head)
        return NULL;
    vcci_list_remove(node);
    return node;
}

#endif
