import type { Tile } from '../../../renderer/room-page/layout/tiles.ts'

/** Makes a user's tile; other fields have defaults. */
export function tile(id: string, more: Partial<Tile> = {}): Tile {
  const person = {
    user_id: id,
    user_name: id,
    role: 'member' as const,
    device: false,
    joined_at: 0,
    audio: true,
    video: true,
    away: false,
    hand: 0,
  }
  return {
    id,
    person,
    source: 'main',
    own: false,
    video: null,
    media: undefined,
    speaking: false,
    lost: false,
    ...more,
  }
}
