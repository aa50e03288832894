import type { IconName } from '../icons/icons.ts'

/** One item of a menu. */
export interface MenuItem {
  key: string
  text: string
  icon?: IconName
  danger?: boolean
  disabled?: boolean
  /** A separator precedes the item. */
  divided?: boolean
  /**
   * Shown only in windows of at most this width, in which the bar has no button for the item. `narrow` is the widest.
   */
  only?: 'narrow' | 'tiny' | 'least'
  /** Language of the text, if it is not the page's. */
  lang?: string
  /** One of several alternatives; undefined for an action. */
  checked?: boolean
}

/** Returns the items of a menu; those whose condition does not hold are left out: `may('rooms.delete') && { … }`. */
export function menuItems(...items: readonly (MenuItem | false | undefined)[]): MenuItem[] {
  return items.filter((item) => item !== false && item !== undefined)
}
