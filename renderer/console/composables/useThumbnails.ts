import { shallowReactive } from 'vue'
import { thumbnail } from '../../kit/media/still/thumbnail.ts'
import { sharedState } from './useConsole.ts'

/** A small picture of a camera. */
export interface Thumbnail {
  /** Data URL of a JPEG. */
  url: string
  /** When the camera took it, milliseconds since the epoch. */
  at: number
}

/** A picture is taken anew after so long, in milliseconds; one that could not be had is asked for again sooner. */
const everyMs = 60_000
const againMs = 15_000
/** So many are kept: 20 kB each. */
const most = 1_000

interface Kept {
  picture: Thumbnail | undefined
  /** When it was asked for last. */
  askedAt: number
  failed: boolean
}

/** Small pictures of cameras, in the memory of this page: taken one after the other, of those that are in view, once a minute. */
export const useThumbnails = sharedState((client) => {
  const kept = shallowReactive(new Map<string, Kept>())
  const wanted = new Set<string>()
  let busy = false

  /** It is in view: its picture is taken when that of before is old. */
  function want(userId: string): void {
    const there = kept.get(userId)
    if (there !== undefined && Date.now() - there.askedAt < (there.failed ? againMs : everyMs)) return
    wanted.add(userId)
    void work()
  }

  async function work(): Promise<void> {
    if (busy) return
    busy = true
    for (const userId of wanted) {
      // A row that went out of view while it waited asks again when it comes back.
      wanted.delete(userId)
      await take(userId)
    }
    busy = false
  }

  async function take(userId: string): Promise<void> {
    const before = kept.get(userId)?.picture
    let picture: Thumbnail | undefined
    try {
      const { picture: key } = await client.call('media.key_picture', { userId })
      if (key !== null) picture = { url: await thumbnail({ ...key, frame: bytesOf(key.frame) }), at: key.at }
    } catch {
      // The row tells how the camera does; where a picture is missing nothing is lost.
    }
    kept.delete(userId)
    kept.set(userId, { picture: picture ?? before, askedAt: Date.now(), failed: picture === undefined })
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break
      kept.delete(oldest)
    }
  }

  // They may be switched off now: what is still wanted is taken again.
  client.on('settings.changed', () => kept.clear())

  return { want, of: (userId: string): Thumbnail | undefined => kept.get(userId)?.picture }
})

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}
