import { limits } from '../../../../shared/limits.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

/** A person or camera of a room; without `userId`, everybody in it. */
export interface OrderTarget {
  roomId: string
  userId?: string | undefined
  name: string
}

/** Starts recordings to files and live streams. */
export function useStartOrder() {
  const client = useConsole()
  const { t } = useText()
  const { attempt } = useFeedback()

  async function record({ roomId, userId, name }: OrderTarget): Promise<void> {
    const whom = { room_id: roomId, ...(userId === undefined ? {} : { user_id: userId, name: labelOf(name) }) }
    await attempt(() => client.call('orders.record', whom), t('playback.ordered.recordStarted', { name }))
  }

  async function stream({ roomId, userId = '', name }: OrderTarget): Promise<void> {
    const whom = { room_id: roomId, user_id: userId, name: labelOf(name) }
    await attempt(() => client.call('orders.stream', whom), t('playback.ordered.streamStarted', { name }))
  }

  return { record, stream }
}

/** Name of a person or camera as the label of an order; empty if it is too long. */
function labelOf(name: string): string {
  return new TextEncoder().encode(name).length > limits.recordingName ? '' : name
}
