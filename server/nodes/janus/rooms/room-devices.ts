import type { SmallPictures } from '../people/small-pictures.ts'
import { type NodeDevice, NodeError, type NodeUser } from '../../port/media-node-port.ts'

/** Operations of a node's rooms for its devices. */
export interface RoomsForDevices {
  /**
   * Returns the fields of the join request of a device, including the name of the room on the node.
   * @throws DeviceJoinError roomFull, roomLocked, nodeFailed; JanusError
   */
  admit(roomId: string, device: NodeDevice, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>
  /**
   * Removes a participant with this id. Resolves to false, and removes no one, if the participant is a person.
   * @throws JanusError
   */
  clear(roomId: string, userId: string, signal: AbortSignal): Promise<boolean>
  /**
   * Returns the name of a room on the node.
   * @throws NodeError; the signal's reason
   */
  nameOf(roomId: string, signal: AbortSignal): Promise<string>
}

/** Devices in the rooms of one node. Implementations emit an event when a device joins or leaves. */
export interface JanusRoomDevices {
  /** See MediaNode.addDevice. */
  add(roomId: string, device: NodeDevice, signal: AbortSignal): Promise<void>
  /** See MediaNode.removeDevice. */
  remove(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /**
   * Returns whether a device is in the room, is joining it, or was in it when the controller stopped. Such a
   * participant is not a person.
   */
  holds(roomId: string, userId: string): boolean
  /** Returns the devices in the room in the order they joined. */
  usersOf(roomId: string): NodeUser[]
  /** Smaller pictures of the devices, if available. */
  readonly small?: SmallPictures
  /** Handles a change of the permitted addresses: devices at other addresses leave. Never rejects. */
  placesChanged(): Promise<void>
  /** Number of devices in all rooms. */
  readonly users: number
  /** Number of cameras that are pulled. */
  readonly pulls: number
  /** Called when the controller stops, or the node goes out of service. */
  close(): Promise<void>
}

/** Implementation for drivers without devices. */
export const noDevices: JanusRoomDevices = {
  add: () => Promise.reject(new NodeError('no device can be taken in')),
  remove: () => Promise.resolve(),
  holds: () => false,
  usersOf: () => [],
  placesChanged: () => Promise.resolve(),
  users: 0,
  pulls: 0,
  close: () => Promise.resolve(),
}
