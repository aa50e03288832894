import type { WallItem } from '../../../../shared/console/wall.ts'

/** Key of a tile. */
export function itemKey({ kind, id }: WallItem): string {
  return `${kind} ${id}`
}

/** Tells whether two walls have the same tiles in the same order. */
export function sameItems(one: readonly WallItem[], other: readonly WallItem[]): boolean {
  const keys = (items: readonly WallItem[]): string => JSON.stringify(items.map(itemKey))
  return keys(one) === keys(other)
}
