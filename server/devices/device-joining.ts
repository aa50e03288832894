import type { Deadline } from '../../shared/deadline.ts'
import { deviceErrorMessages } from '../../shared/device.ts'
import { refusalOfDevice } from '../../shared/refusals/device-refusals.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { DeviceJoinError, type NodeDevice } from '../nodes/port/media-node-port.ts'
import type { ChoiceOptions } from '../nodes/pool/choice/choose-node.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { DeadlineError, within } from '../nodes/port/deadline.ts'
import { isLostNode } from '../nodes/port/node-failure.ts'
import type { JoinFailure } from './reconnect.ts'

/** Maximum number of attempts of one join if its MCU is lost repeatedly. */
const maxAttempts = 3

/** Parts of the node pool used for joining. */
export type JoinPool = Pick<NodePool, 'assigner' | 'calls' | 'nodes'>

/**
 * Joins a device to its room; resolves when its media flows. Assigns an MCU to the room if it has none. If the MCU is
 * lost meanwhile, the device joins on the next MCU of the room.
 * @param deadline deadline of the whole join
 * @throws DeviceJoinError `timeout` if the deadline expires while the device is being called; ApiError nodeTimeout if
 * it expires earlier; other ApiErrors; the signal's reason
 */
export async function joinDevice(
  roomId: string,
  device: NodeDevice,
  pool: JoinPool,
  deadline: Deadline,
): Promise<void> {
  // Janus servers pull devices only from rtsp:// addresses.
  const options: ChoiceOptions = device.address.secure ? { avoid: 'janus' } : {}
  for (let attempt = 1; ; attempt += 1) {
    await beforeCall(deadline, (signal) => pool.assigner.assign(roomId, options, signal))
    try {
      await pool.calls.addDevice(roomId, device, deadline)
      return
    } catch (error) {
      if (!isLostNode(error) || attempt === maxAttempts) throw error
      await beforeCall(deadline, (signal) => pool.nodes.judged(roomId, signal))
    }
  }
}

/** Runs a step of a join before the device is called. @throws ApiError nodeTimeout at the deadline */
async function beforeCall(deadline: Deadline, step: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  try {
    await within({ milliseconds: deadline.leftMs, signal: deadline.signal }, step)
  } catch (error) {
    throw error instanceof DeadlineError ? new ApiError('nodeTimeout', { cause: error }) : error
  }
}

/** Returns the reason of a failed attempt, for the operator. */
export function joinFailureOf(error: unknown): JoinFailure {
  if (error instanceof DeviceJoinError) {
    const { kind, detail } = error
    return { kind, detail, message: deviceErrorMessages[kind] }
  }
  if (!(error instanceof ApiError)) return { kind: 'nodeFailed', message: deviceErrorMessages.nodeFailed }
  if (error.code === 'roomClosed') return roomClosedFailure
  // A device can be without a room only if the data was edited manually.
  if (error.code === 'roomNotFound') return { kind: 'noNode', message: error.message, hold: true }
  if (error.code === 'noNode') return { kind: 'noNode', message: error.message }
  if (error.code === 'licenceExceeded') return { kind: 'noNode', message: 'Every MCU is at its limit.' }
  return { kind: 'nodeFailed', message: error.message }
}

/** Failure of a device whose room is closed. */
export const roomClosedFailure: JoinFailure = {
  kind: 'roomLocked',
  message: 'The room is closed: the device joins when it is reopened.',
  hold: true,
}

/**
 * Converts a failure to the error of createOutgoingUser (contract, section 4). Unknown errors are returned unchanged.
 */
export function joinErrorOf(error: unknown): unknown {
  if (error instanceof DeviceJoinError) {
    const reason = error.message
    if (error.kind === 'timeout') return new ApiError('joinTimeout', { reason, cause: error })
    return new ApiError('joinFailed', { refusal: refusalOfDevice(error.kind, error.detail), reason, cause: error })
  }
  // The room lost its MCU during the join.
  if (error instanceof ApiError && error.code === 'neverAssigned') return new ApiError('noNode', { cause: error })
  return error
}
