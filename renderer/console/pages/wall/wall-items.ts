import type { WallArrangement, WallItem } from '../../../../shared/domain/wall-layout.ts'

/** Key of a tile. */
export function itemKey({ kind, id }: WallItem): string {
  return `${kind} ${id}`
}

/** Returns whether two walls have the same tiles in the same order. */
export function sameItems(one: readonly WallItem[], other: readonly WallItem[]): boolean {
  const keys = (items: readonly WallItem[]): string => JSON.stringify(items.map(itemKey))
  return keys(one) === keys(other)
}

/** Returns whether two walls have the same arrangement. */
export function sameArrangement(one: WallArrangement, other: WallArrangement): boolean {
  const inOrder = (arrangement: WallArrangement): string => JSON.stringify(Object.entries(arrangement).sort())
  return inOrder(one) === inOrder(other)
}
