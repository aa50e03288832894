import { computed, type ComputedRef, shallowRef, watch } from 'vue'
import { useMayWatch } from '../../composables/useCaller.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { usePolling } from '../../live/usePolling.ts'
import { useReading } from '../../live/useReading.ts'
import { useText } from '../../i18n/text.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { type Seen, seenStream } from './seen-stream.ts'
import type { TileContent } from './tile-content.ts'

/** Polling interval of speakers, in milliseconds. */
const lookMs = 2_000

/** Content of a room's tile: the speaker's stream, else the first available picture. */
export function useRoomTile(roomId: () => string, watched: () => boolean): ComputedRef<TileContent> {
  const client = useConsole()
  const { t } = useText()
  const mayWatch = useMayWatch()
  const seen = shallowRef<Seen>()
  const { value, error } = useReading('rooms.get', () => ({ room_id: roomId() }), { throttleMs: 500 })
  const gone = computed(() => error.value instanceof CallError && error.value.code === 'notFound')
  let looking = false

  async function look(): Promise<void> {
    if (looking || gone.value || !watched()) return
    looking = true
    const asked = roomId()
    try {
      const { streams, connections } = await client.call('media.stats', { room_id: asked })
      if (asked === roomId()) seen.value = seenStream(streams, connections, seen.value, Date.now())
    } catch {
      // The last picture continues, or reports its own end.
    } finally {
      looking = false
    }
  }
  usePolling(() => void look(), lookMs)
  watch(watched, () => void look(), { immediate: true })

  return computed(() => {
    const { room, users = [] } = (gone.value ? undefined : value.value) ?? {}
    const { streamId, userId } = seen.value ?? { streamId: '', userId: '' }
    const user = users.find(({ user_id }) => user_id === userId)
    const person = user?.user_name || userId
    const closed = streamId !== '' && !gone.value && !mayWatch(user?.device === true)
    const empty =
      room?.status === 'closed' ? t('wall.closed') : users.length === 0 ? t('wall.nobody') : t('wall.noPictures')
    return {
      title: room?.topic || roomId(),
      room: '',
      person,
      source: streamId === '' || gone.value || closed ? undefined : { roomId: roomId(), streamId },
      reason: gone.value
        ? t('wall.noRoom')
        : closed
          ? t('wall.notForViewers')
          : room === undefined || streamId !== ''
            ? ''
            : empty,
      since: 0,
      next: '',
      gone: gone.value,
      page: `/rooms/${encodeURIComponent(roomId())}`,
    }
  })
}
