import type { Person, StreamSource } from '../../../shared/media/signal.ts'
import type { RemoteMedia } from '../session/remote-media.ts'

/** A tile on the stage: a user, or a user's screen. */
export interface Tile {
  /** Id of the stream; for a user who sends nothing, the user's id. */
  id: string
  person: Person
  source: StreamSource
  own: boolean
  /** The picture; null: none. */
  video: MediaStreamTrack | null
  /** Received media; undefined for the user's own, and for users who send nothing. */
  media: RemoteMedia | undefined
  speaking: boolean
  /** A disconnected camera that is expected to return. */
  lost: boolean
}

/** Fields of a tile without a picture. */
const unsent: Omit<Tile, 'id' | 'person'> = {
  source: 'main',
  own: false,
  video: null,
  media: undefined,
  speaking: false,
  lost: false,
}

export interface TileSources {
  you: Person | null
  people: Iterable<Person>
  /** Disconnected cameras that are expected to return. */
  lostCameras: Iterable<Person>
  media: ReadonlyMap<string, RemoteMedia>
  ownCamera: MediaStreamTrack | null
  ownScreen: MediaStreamTrack | null
  /** Speakers reported by the node, which receives audio levels from the users' browsers. */
  speaking: ReadonlySet<string>
}

/**
 * Returns all tiles: screens first, then those with a picture, then those with sound, then listeners; within each group
 * in joining order.
 */
export function tilesOf({ you, people, media, ownCamera, ownScreen, speaking, lostCameras }: TileSources): Tile[] {
  const tiles: Tile[] = []
  for (const person of people) {
    const own = person.user_id === you?.user_id
    const mine = [...media.values()].filter(({ userId }) => userId === person.user_id)
    const main = mine.find(({ source }) => source === 'main')
    for (const screen of mine.filter(({ source }) => source === 'screen')) {
      const { id, video } = screen
      tiles.push({ ...unsent, id, person, source: 'screen', video, media: screen })
    }
    if (own && ownScreen !== null) {
      const id = `${person.user_id}~screen`
      tiles.push({ ...unsent, id, person, source: 'screen', own, video: ownScreen })
    }
    tiles.push({
      ...unsent,
      id: person.user_id,
      person,
      own,
      video: own ? ownCamera : person.video ? (main?.video ?? null) : null,
      media: own ? undefined : main,
      speaking: (person.device || person.audio) && (speaking.has(person.user_id) || main?.speaking === true),
    })
  }
  for (const person of lostCameras) tiles.push({ ...unsent, id: person.user_id, person, lost: true })
  return tiles.sort((one, other) => rank(one) - rank(other))
}

/** Ranks a tile; the own tile precedes listeners. */
function rank({ source, own, person, video }: Tile): number {
  if (source === 'screen') return 0
  if (own) return 2
  if (person.device || person.video || video !== null) return 1
  return person.audio ? 3 : 4
}

/** Returns one or two characters for a name: the last two of a Chinese name, else initials. */
export function initialsOf(name: string): string {
  // A suffix that distinguishes equal names, e.g. " (2)", is ignored.
  const trimmed = name.trim().replace(/ \(\d+\)$/, '')
  if (/\p{Script=Han}/u.test(trimmed)) return Array.from(trimmed).slice(-2).join('')
  const words = trimmed.split(/[\s._-]+/u).filter((word) => word !== '')
  const letters = words.slice(0, 2).map((word) => Array.from(word)[0] ?? '')
  return letters.join('').toUpperCase() || '?'
}

/** Returns a fixed hue for a user, in degrees: consecutive ids are far apart on the colour wheel. */
export function hueOf(userId: string): number {
  let sum = 0
  for (const letter of userId) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9_973
  return (sum * 137) % 360
}
