import type { SmallPictures } from '../people/small-pictures.ts'
import { type NodeDevice, NodeError, type NodeUser } from '../../port/media-node-port.ts'

/** Operations of a node's rooms for its devices. */
export interface RoomsForDevices {
  /** Fields of the join of a device, among them the room's name on the node. @throws DeviceJoinError roomFull, roomLocked, nodeFailed; JanusError */
  admit(roomId: string, device: NodeDevice, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>
  /** Takes a participant of this id out, unless it is a person: then it resolves to false. @throws JanusError */
  clear(roomId: string, userId: string, signal: AbortSignal): Promise<boolean>
  /** Name of a room on the node. @throws NodeError; the signal's reason */
  nameOf(roomId: string, signal: AbortSignal): Promise<string>
}

/** Outgoing users in the rooms of one node. They report their joining and leaving themselves. */
export interface RoomDevices {
  /** See MediaNode.addDevice. */
  add(roomId: string, device: NodeDevice, signal: AbortSignal): Promise<void>
  /** See MediaNode.removeDevice. */
  remove(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /** It is in the room, on its way into it, or was when the controller stopped: such a participant is no person. */
  holds(roomId: string, userId: string): boolean
  /** Those that are in the room, in the order they joined. */
  usersOf(roomId: string): NodeUser[]
  /** Smaller pictures of them, where there are any. */
  readonly small?: SmallPictures
  /** The site changed where devices may be: those at other addresses leave. Never rejects. */
  placesChanged(): Promise<void>
  /** Devices in all rooms. */
  readonly users: number
  /** Different cameras that are pulled. */
  readonly pulls: number
  /** The controller stops, or the node is no longer wanted. */
  close(): Promise<void>
}

/** Devices of a driver that takes none. */
export const noDevices: RoomDevices = {
  add: () => Promise.reject(new NodeError('no device can be taken in')),
  remove: () => Promise.resolve(),
  holds: () => false,
  usersOf: () => [],
  placesChanged: () => Promise.resolve(),
  users: 0,
  pulls: 0,
  close: () => Promise.resolve(),
}
