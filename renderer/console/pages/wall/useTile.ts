import { computed, type ComputedRef, shallowRef, watch } from 'vue'
import { useDevices, useMayWatch } from '../../composables/site.ts'
import { useNow } from '../../../kit/composables/useNow.ts'
import { useText } from '../../i18n/text.ts'
import { useDeviceText } from '../devices/deviceText.ts'
import type { TileContent } from './tile-exchange.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { usePolling } from '../../live/usePolling.ts'
import { useReading } from '../../live/useReading.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import type { ConnectionStats, StreamStats } from '../../../../shared/media/stream-stats.ts'

const blank = { person: '', room: '', source: undefined, reason: '', since: 0, next: '', gone: false }

/** Content of a camera's tile: the camera, or the reason why it is not shown, in the words of the device list. */
export function useCameraTile(userId: () => string): ComputedRef<TileContent> {
  const { t } = useText()
  const { trouble, nextTry } = useDeviceText()
  const { byId, value } = useDevices()
  const now = useNow()
  // Separate from the countdown, so that a tile with a picture computes nothing each second.
  const still = computed(() => {
    const device = byId.value.get(userId())
    const content = { ...blank, title: userId(), page: `/devices/${encodeURIComponent(userId())}` }
    if (device === undefined) {
      const known = value.value !== undefined
      return { ...content, reason: known ? t('wall.noCamera') : '', gone: known }
    }
    const { roomId, roomTopic: room, userName: title, state, since } = device
    if (state === 'joined') return { ...content, title, room, source: { roomId, streamId: device.userId } }
    return { ...content, title, room, reason: trouble(device) || t(`devices.states.${state}`), since }
  })
  return computed(() => {
    const device = byId.value.get(userId())
    if (device === undefined || device.state === 'joined') return still.value
    return { ...still.value, next: nextTry(device, now.value) }
  })
}

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
      ...blank,
      title: room?.topic || roomId(),
      person,
      source: streamId === '' || gone.value || closed ? undefined : { roomId: roomId(), streamId },
      reason: gone.value
        ? t('wall.noRoom')
        : closed
          ? t('wall.notForViewers')
          : room === undefined || streamId !== ''
            ? ''
            : empty,
      gone: gone.value,
      page: `/rooms/${encodeURIComponent(roomId())}`,
    }
  })
}

/**
 * Minimum time for which a speaker is shown, in milliseconds, so that a dialogue does not switch pictures constantly.
 */
const restMs = 3_000

/** Stream of a room that its tile shows, and the time since which it is shown. */
interface Seen {
  streamId: string
  userId: string
  since: number
}

/**
 * Returns the speaker's picture, or the previous picture until its minimum time has ended; without a speaker the previous
 * one, else the first available.
 */
export function seenStream(
  streams: readonly Pick<StreamStats, 'stream_id' | 'user_id' | 'video_codec'>[],
  connections: readonly Pick<ConnectionStats, 'user_id' | 'speaking'>[],
  before: Seen | undefined,
  now: number,
): Seen | undefined {
  const pictures = streams.filter(({ video_codec }) => video_codec !== '')
  const kept = pictures.find(({ stream_id }) => stream_id === before?.streamId)
  if (before !== undefined && kept !== undefined && now - before.since < restMs) return before
  const speaking = new Set(connections.flatMap((one) => (one.speaking ? [one.user_id] : [])))
  if (before !== undefined && kept !== undefined && speaking.has(kept.user_id)) return before
  // Camera and screen belong to the same user: the camera takes precedence.
  const next =
    pictures.find(({ stream_id, user_id }) => stream_id === user_id && speaking.has(user_id)) ?? kept ?? pictures[0]
  if (next === undefined) return undefined
  if (next.stream_id === before?.streamId) return before
  return { streamId: next.stream_id, userId: next.user_id, since: now }
}
