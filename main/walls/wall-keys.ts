import type { Input } from 'electron'

/** Global shortcut that closes the walls, in Electron's notation. The screen texts also contain it. */
export const wayOut = 'Control+Alt+Q'

/**
 * Whether the shortcut that closes the walls was pressed. Compares the character or the position of the key, because
 * with Alt some layouts produce another character.
 */
export function isWayOut({ type, control, alt, key, code }: Pick<Input, 'type' | 'control' | 'alt' | 'key' | 'code'>) {
  return type === 'keyDown' && control && alt && (code === 'KeyQ' || key.toLowerCase() === 'q')
}

/**
 * Whether a key event is passed to the page of a wall, which uses keys for turning pages and enlarging a picture.
 * Shortcuts with modifiers and function keys are blocked, because they could quit the app or reload the page.
 */
export function mayReachWall({ control, alt, meta, key }: Pick<Input, 'control' | 'alt' | 'meta' | 'key'>): boolean {
  return !control && !alt && !meta && !/^F\d+$/.test(key)
}
