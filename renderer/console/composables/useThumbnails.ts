import { computed, type ComputedRef, shallowReactive } from 'vue'
import { thumbnail } from '../../kit/media/still/thumbnail.ts'
import { bytesOfBase64 } from '../../kit/transport/base64.ts'
import { useEvent } from '../live/useEvent.ts'
import { sharedState } from './useConsole.ts'
import { useSettings } from './site.ts'
import type { Column } from '../../kit/components/table.ts'
import { useText } from '../i18n/text.ts'

interface Thumbnail {
  /** Data URL of a JPEG. */
  url: string
  /** Time of the picture, in milliseconds since the epoch. */
  at: number
}

/** Interval between pictures of a camera, in milliseconds; a failed request is repeated sooner. */
const everyMs = 60_000
const againMs = 15_000
/** Maximum number of stored thumbnails: 20 kB each. */
const most = 1_000

interface Kept {
  picture: Thumbnail | undefined
  askedAt: number
  failed: boolean
}

/**
 * Thumbnails of cameras in the memory of this page, requested one after the other: once a minute for each visible
 * camera. If there is no live picture, the newest stored one is used.
 */
export const useThumbnails = sharedState((client) => {
  const kept = shallowReactive(new Map<string, Kept>())
  const wanted = new Set<string>()
  const { value: settings } = useSettings()
  let busy = false

  /** Whether the site stores pictures, also of cameras that are not joined. */
  const keeps = (): boolean => (settings.value?.pictures.every_minutes ?? 0) > 0

  /** Marks a camera as visible: requests a new picture if the present one is old. */
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
      // A row that has left the view while waiting requests again when it returns.
      wanted.delete(userId)
      await take(userId)
    }
    busy = false
  }

  async function take(userId: string): Promise<void> {
    const before = kept.get(userId)?.picture
    let picture: Thumbnail | undefined
    try {
      const { picture: live } = await client.call('media.key_picture', { userId })
      const key = live ?? (keeps() ? (await client.call('devices.picture', { userId })).picture : null)
      if (key !== null) picture = { url: await thumbnail({ ...key, frame: bytesOfBase64(key.frame) }), at: key.at }
    } catch {
      // The row shows the camera's state, so an error message is not needed.
    }
    kept.delete(userId)
    kept.set(userId, { picture: picture ?? before, askedAt: Date.now(), failed: picture === undefined })
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break
      kept.delete(oldest)
    }
  }

  // Thumbnails may be disabled now. Those of visible cameras are requested again.
  useEvent('settings.changed', () => kept.clear())

  return { want, keeps, of: (userId: string): Thumbnail | undefined => kept.get(userId)?.picture }
})

/**
 * Column of thumbnails; empty if the site has disabled them.
 * @param from minimum width of the table that shows the column, in pixels
 */
export function usePictureColumn(from: number): ComputedRef<Column[]> {
  const { t } = useText()
  const { value: settings } = useSettings()
  return computed(() =>
    settings.value?.console.thumbnails === false
      ? []
      : [{ key: 'picture', title: t('words.picture'), track: '62px', quiet: true, from }],
  )
}
