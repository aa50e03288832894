import type { DeviceErrorKind } from '../../shared/device.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { NodeUser } from '../nodes/port/media-node-port.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { JoinRefusedError, SimulatedNode, type SimulatedPerson } from '../nodes/simulated/simulated-node.ts'
import type { DeviceFaultRule, NodeFault } from '../nodes/simulated/simulated-faults.ts'
import type { Store } from '../store/store.ts'

/**
 * Controls simulated nodes for the lab: people who join and leave, and faults. These people are none of the test people
 * (lab-people.ts): a simulated node has no media at all. Rejects nodes with real media.
 */
export class SimulatedPeople {
  readonly #pool: NodePool
  readonly #store: Store

  constructor(pool: NodePool, store: Store) {
    this.#pool = pool
    this.#store = store
  }

  /**
   * Lets a simulated person request the room's node, like a client, and join there.
   * @throws ApiError parameter if the room or its node refuses (full, locked, userId in use, not simulated); errors of
   * CallerNodes.nodeFor
   */
  async join(roomId: string, person: SimulatedPerson, signal?: AbortSignal): Promise<NodeUser> {
    const node = this.#simulated(await this.#pool.callerNodes.nodeFor(roomId, { withoutMedia: true }, signal))
    try {
      return node.joinPerson(roomId, person)
    } catch (error) {
      if (error instanceof JoinRefusedError) throw new ApiError('parameter', { refusal: error.refusal, cause: error })
      throw error
    }
  }

  /** Lets a simulated person leave. @throws ApiError roomNotFound, userNotOnline, parameter */
  leave(roomId: string, userId: string): void {
    const room = this.#store.get('rooms', roomId)
    if (room === undefined) throw new ApiError('roomNotFound')
    if (room.node === '' || !this.#simulated(room.node).leavePerson(roomId, userId)) throw new ApiError('userNotOnline')
  }

  /** Returns the active faults of every enabled simulated node. */
  faults(): { name: string; mode: NodeFault['mode']; delay_ms: number; device_rules: DeviceFaultRule[] }[] {
    return [...this.#store.all('nodes').keys()].flatMap((name) => {
      const driver = this.#pool.nodes.driver(name)
      if (!(driver instanceof SimulatedNode)) return []
      const { mode, delayMs } = driver.fault
      return [{ name, mode, delay_ms: delayMs, device_rules: [...driver.deviceFaults] }]
    })
  }

  /**
   * Sets the fault of a node.
   * @throws ApiError parameter if the node is not an enabled simulated node
   */
  setFault(name: string, fault: NodeFault): void {
    this.#simulated(name).setFault(fault)
  }

  /**
   * Sets the device faults of a node.
   * @throws ApiError parameter if the node is not an enabled simulated node
   */
  setDeviceFaults(name: string, rules: readonly DeviceFaultRule[]): void {
    this.#simulated(name).setDeviceFaults(rules)
  }

  /**
   * Drops a joined device.
   * @throws ApiError parameter if the device is not joined on an enabled simulated node
   */
  loseDevice(userId: string, kind: DeviceErrorKind): void {
    const device = this.#store.get('devices', userId)
    const room = device === undefined ? undefined : this.#store.get('rooms', device.roomId)
    if (room === undefined || room.node === '' || !this.#simulated(room.node).loseDevice(room.room_id, userId, kind)) {
      throw new ApiError('parameter', { refusal: refusal('labDeviceOnly'), field: 'userId' })
    }
  }

  #simulated(name: string): SimulatedNode {
    const driver = this.#pool.nodes.driver(name)
    if (driver instanceof SimulatedNode) return driver
    throw new ApiError('parameter', { refusal: refusal('labNodeOnly'), field: 'name' })
  }
}
