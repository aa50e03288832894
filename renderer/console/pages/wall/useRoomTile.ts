import { computed, type ComputedRef, onScopeDispose, shallowRef, watch } from 'vue'
import type { ProcedureOutput } from '../../../../shared/console/contract.ts'
import { useMayWatch } from '../../composables/useMayWatch.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { collected, useLive } from '../../../kit/composables/useLive.ts'
import { useText } from '../../i18n/text.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { seenStream, type Seen } from './seen-stream.ts'
import type { TileContent } from './tile-content.ts'

/** Polling interval of speakers, in milliseconds. */
const lookMs = 2_000

/** Stream of the speaker in a room, else the first available picture. */
export function useRoomTile(roomId: () => string, watched: () => boolean): ComputedRef<TileContent> {
  const client = useConsole()
  const { t } = useText()
  const mayWatch = useMayWatch()
  const detail = shallowRef<ProcedureOutput<'rooms.get'>>()
  const seen = shallowRef<Seen>()
  const gone = shallowRef(false)
  let looking = false

  const { refresh } = useLive(client, async () => {
    const asked = roomId()
    try {
      const found = await client.call('rooms.get', { room_id: asked })
      if (asked !== roomId()) return
      detail.value = found
      gone.value = false
    } catch (error) {
      gone.value = error instanceof CallError && error.code === 'notFound'
      if (!gone.value) throw error
      detail.value = undefined
    }
  })
  const again = collected(() => void refresh(), 500)
  const stop = client.on('rooms.changed', ({ room_ids, all }) => {
    if (all || room_ids.includes(roomId())) again()
  })

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
  const timer = setInterval(() => void look(), lookMs)
  watch(watched, () => void look(), { immediate: true })
  onScopeDispose(() => {
    clearInterval(timer)
    stop()
  })

  return computed(() => {
    const { room, users = [] } = detail.value ?? {}
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
