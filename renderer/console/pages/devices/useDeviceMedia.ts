import { shallowRef } from 'vue'
import type { StreamStats } from '../../../../shared/media/stream-stats.ts'
import { useNow } from '../../../kit/composables/useNow.ts'
import { sharedState, useConsole } from '../../composables/useConsole.ts'
import { useText } from '../../i18n/text.ts'
import { usePolling } from '../../live/usePolling.ts'
import { streamWarning } from '../rooms/useRoomMedia.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** Polling interval in milliseconds: faults change slowly. */
const readEveryMs = 5_000

/** Latest media state of joined devices, by userId. */
const useStreams = sharedState(() => shallowRef<ReadonlyMap<string, StreamStats>>(new Map()))

/** Faults of the media of joined devices, polled while in use. */
export function useDeviceMedia() {
  const client = useConsole()
  const streams = useStreams()
  const { t } = useText()
  const now = useNow()
  let reading = false

  async function read(): Promise<void> {
    if (reading) return
    reading = true
    try {
      const { streams: now } = await client.call('media.stats')
      streams.value = new Map(now.map((stream) => [stream.stream_id, stream]))
    } catch {
      // The state of the node shows the problem.
      streams.value = new Map()
    } finally {
      reading = false
    }
  }

  void read()
  usePolling(() => void read(), readEveryMs)

  /** Returns why users cannot see or hear a joined device, and the remedy; empty: no problem. */
  function warning({ state, roomId, userId }: DeviceView): string {
    const stream = streams.value.get(userId)
    return state === 'joined' && stream?.room_id === roomId ? streamWarning(stream, true, now.value, t) : ''
  }

  return { warning }
}
