import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { limits } from '../../../../shared/limits.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

/** A user or camera of a room; without `userId`, everybody in it. */
export interface OrderTarget {
  roomId: string
  userId?: string | undefined
  name: string
}

type StreamInput = ProcedureInput<'orders.stream'>

/** Starts client recordings and live streams. */
export function useStartOrder() {
  const client = useConsole()
  const { t } = useText()
  const { attempt, tell } = useFeedback()

  async function record({ roomId, userId, name }: OrderTarget): Promise<void> {
    const whom = { room_id: roomId, ...(userId === undefined ? {} : { user_id: userId, name: labelOf(name) }) }
    await attempt(() => client.call('orders.record', whom), t('playback.ordered.recordStarted', { name }))
  }

  /** Starts a live stream. @throws CallError if the controller refuses it */
  async function stream(input: StreamInput, name: string): Promise<void> {
    await client.call('orders.stream', input)
    tell(t('playback.ordered.streamStarted', { name }))
  }

  return { record, stream }
}

/** Returns the input of a new live stream. @param address RTMP server that receives the stream; empty: none */
export function streamInput({ roomId, userId = '', name }: OrderTarget, address: string): StreamInput {
  const whom = { room_id: roomId, user_id: userId, name: labelOf(name) }
  return address === '' ? whom : { ...whom, publish_url: address }
}

/** Returns the name of a user or camera as the label of an order; empty if it is too long. */
function labelOf(name: string): string {
  return new TextEncoder().encode(name).length > limits.recordingName ? '' : name
}
