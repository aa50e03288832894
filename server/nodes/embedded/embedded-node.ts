import type { Deadline } from '../../../shared/deadline.ts'
import type { ControlMethod, ControlParams, ControlResult } from '../../../shared/media/control.ts'
import type { RecordingOrder } from '../../../shared/recordings/segment.ts'
import type { MediaNode, NodeDevice, NodeEvent, NodeHealth, NodeRoom, NodeUser } from '../port/media-node-port.ts'
import { NodeConnectionError } from '../port/media-node-port.ts'
import type { MediaRequests } from './control-client.ts'

export interface EmbeddedNodeDependencies {
  /**
   * Returns the connection to the process.
   * @throws NodeConnectionError; the signal's reason
   */
  client: (signal: AbortSignal) => Promise<MediaRequests>
  /** Listeners to events of the process. */
  listeners: Set<(event: NodeEvent) => void>
  /** Called when the node is no longer needed. */
  release: () => Promise<void>
}

/** Share of the remaining time that the process may use, so that its answer arrives before the controller's timeout. */
const joinShare = 0.97

const never = new AbortController().signal

/** Driver of the embedded node, which exchanges messages with the node's process. */
export class EmbeddedNode implements MediaNode {
  readonly #dependencies: EmbeddedNodeDependencies
  #closed = false

  constructor(dependencies: EmbeddedNodeDependencies) {
    this.#dependencies = dependencies
  }

  async openRoom(room: NodeRoom, signal: AbortSignal): Promise<void> {
    await this.#ask('open_room', room, signal)
  }

  async closeRoom(roomId: string, signal: AbortSignal, moves = false): Promise<void> {
    await this.#ask('close_room', { roomId, moves }, signal)
  }

  async users(roomId: string, signal: AbortSignal): Promise<NodeUser[]> {
    return (await this.#ask('users', { roomId }, signal)).users
  }

  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#ask('kick', { roomId, userId }, signal)).kicked
  }

  async addDevice(roomId: string, device: NodeDevice, deadline: Deadline): Promise<void> {
    const { signal } = deadline
    const { userId } = device
    const client = await this.#client(signal)
    // Removes a device that joined just after the request was aborted.
    const tooLate = (): void => {
      // Fails only if the process has ended, and the device with it.
      client.request('remove_device', { roomId, userId }, never).catch(() => {})
    }
    const leftMs = Math.max(1, Math.floor(deadline.leftMs * joinShare))
    await client.request('add_device', { roomId, device, leftMs }, signal, tooLate)
  }

  async removeDevice(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.#ask('remove_device', { roomId, userId }, signal)
  }

  async setRecording(order: RecordingOrder, signal: AbortSignal): Promise<void> {
    await this.#ask('set_recording', order, signal)
  }

  async rooms(signal: AbortSignal): Promise<string[]> {
    return (await this.#ask('rooms', {}, signal)).roomIds
  }

  async health(signal: AbortSignal): Promise<NodeHealth> {
    return await this.#ask('health', {}, signal)
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.#dependencies.listeners.add(listener)
    return () => this.#dependencies.listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#dependencies.listeners.clear()
    await this.#dependencies.release()
  }

  async #ask<M extends ControlMethod>(
    method: M,
    params: ControlParams<M>,
    signal: AbortSignal,
  ): Promise<ControlResult<M>> {
    return (await this.#client(signal)).request(method, params, signal)
  }

  #client(signal: AbortSignal): Promise<MediaRequests> {
    if (this.#closed) return Promise.reject(new NodeConnectionError('the node was taken out of service'))
    return this.#dependencies.client(signal)
  }
}
