import { computed } from 'vue'
import { useNow } from '../../../kit/composables/useNow.ts'
import { useText } from '../../i18n/text.ts'
import { useReading } from '../../live/useReading.ts'
import { streamWarning } from '../rooms/useRoomMedia.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** Polling interval in milliseconds: faults change slowly. */
const everyMs = 5_000

/** Faults of the media of joined devices. */
export function useDeviceMedia() {
  const { t } = useText()
  const now = useNow()
  const { value, error } = useReading('media.stats', {}, { everyMs })
  // The state of the node shows the problem of a failed call.
  const streams = computed(() => (error.value === null ? value.value?.streams : undefined) ?? [])
  const byId = computed(() => new Map(streams.value.map((stream) => [stream.stream_id, stream])))

  /** Returns why users cannot see or hear a joined device, and the remedy; empty: no problem. */
  function warning({ state, roomId, userId }: DeviceView): string {
    const stream = byId.value.get(userId)
    return state === 'joined' && stream?.room_id === roomId ? streamWarning(stream, true, now.value, t) : ''
  }

  return { warning }
}
