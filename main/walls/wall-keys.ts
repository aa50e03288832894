import type { Input } from 'electron'

/** Keys that close the walls, as Electron writes them for the whole system. The screen texts name them, too. */
export const wayOut = 'Control+Alt+Q'

/** Tells whether somebody pressed the way out. By the key's letter or place: with Alt, some layouts make another character of it. */
export function isWayOut({ type, control, alt, key, code }: Pick<Input, 'type' | 'control' | 'alt' | 'key' | 'code'>) {
  return type === 'keyDown' && control && alt && (code === 'KeyQ' || key.toLowerCase() === 'q')
}

/** Tells whether a key reaches the page of a wall: those that turn pages and enlarge a picture. Shortcuts of the app, which could quit it or reload the page, do not. */
export function mayReachWall({ control, alt, meta, key }: Pick<Input, 'control' | 'alt' | 'meta' | 'key'>): boolean {
  return !control && !alt && !meta && !/^F\d+$/.test(key)
}
