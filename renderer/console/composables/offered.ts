import type { MenuItem } from '../../kit/menu/AppMenu.vue'

/** Returns the items of a menu without those that are not offered now. */
export function offered(...items: readonly (MenuItem | false | undefined)[]): MenuItem[] {
  return items.filter((item) => item !== false && item !== undefined)
}
