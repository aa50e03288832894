import { onAbort } from '../../../shared/abort.ts'
import type { Deadline } from '../../../shared/deadline.ts'
import { cameraKey, type CameraSource, type DeviceAddress } from '../../../shared/device-address.ts'
import { type DeviceErrorKind, deviceErrorMessages } from '../../../shared/device.ts'
import { ExpectedError } from '../../../shared/expected-error.ts'
import type { ControlParams } from '../../../shared/media/control.ts'
import type { ControllerEnd } from '../../../shared/media/controller-methods.ts'
import { Problem } from '../base/problem.ts'
import type { CameraPulls } from '../feeds/camera-pulls.ts'
import { RtspError } from '../rtsp/rtsp-error.ts'
import type { Room } from './room.ts'

/** Error of a device that could not be added to a room. The message is for the log and contains no credentials. */
export class DeviceFailure extends ExpectedError {
  readonly kind: DeviceErrorKind
  /** See RtspError. */
  readonly detail: string
  constructor(
    kind: DeviceErrorKind,
    message: string = deviceErrorMessages[kind],
    options: ErrorOptions & { detail?: string } = {},
  ) {
    super(message, options)
    this.name = 'DeviceFailure'
    this.kind = kind
    this.detail = options.detail ?? ''
  }
}

/** Device with the settings for pulling its media, from the controller. */
export type RoomDevice = ControlParams<'add_device'>['device']

/** Adds devices to rooms and removes them. */
export class DeviceJoins {
  readonly #pulls: CameraPulls
  readonly #rooms: { find(roomId: string): Room | undefined }
  readonly #controller: Pick<ControllerEnd, 'notify'>
  /** Pending attempts by room and user. A new attempt for a device aborts the previous attempt. */
  readonly #joining = new Map<string, AbortController>()

  constructor(
    pulls: CameraPulls,
    rooms: { find(roomId: string): Room | undefined },
    controller: Pick<ControllerEnd, 'notify'>,
  ) {
    this.#pulls = pulls
    this.#rooms = rooms
    this.#controller = controller
  }

  /**
   * Adds a device to a room. Resolves when the device's media arrives in the room. Adding the same device again has no
   * effect.
   * @param deadline time by which the device's first packet must have arrived, and abort signal
   * @throws DeviceFailure; the signal's reason. In both cases nothing is left in the room.
   */
  async add(roomId: string, device: RoomDevice, { leftMs, signal }: Deadline): Promise<void> {
    const room = this.#admit(roomId, device)
    const camera = sourceOf(device.address, device)
    const key = cameraKey(camera)
    if (room.members.get(device.userId)?.device?.key === key) return
    const attemptKey = joiningKey(roomId, device.userId)
    this.#joining.get(attemptKey)?.abort(new DeviceFailure('closed', 'a later attempt took its place'))
    const attempt = new AbortController()
    this.#joining.set(attemptKey, attempt)
    let lost: RtspError | undefined
    let inRoom = false
    const unregister = onAbort(signal, () => attempt.abort(signal.reason))
    const timer = setTimeout(() => attempt.abort(new DeviceFailure('timeout', 'no media came in time')), leftMs)
    try {
      const lease = await this.#pulls.acquire(camera, attempt.signal, (error) => {
        lost = error
        if (inRoom) this.#lost(room, device.userId, error)
      })
      try {
        if (lost !== undefined) throw lost
        const current = this.#admit(roomId, device)
        if (current !== room) throw new DeviceFailure('nodeFailed', 'the room was closed')
        room.attendance.remove(device.userId, 'left')
        room.streams.assertPlace(lease.feed.video !== undefined, lease.feed.audio !== undefined)
        room.attendance.addDevice(device.userId, device.userName, {
          key,
          lease,
          second: device.assistAddress && sourceOf(device.assistAddress, device),
        })
        inRoom = true
      } catch (error) {
        lease.release()
        throw error
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : deviceFailure(error)
    } finally {
      clearTimeout(timer)
      unregister()
      if (this.#joining.get(attemptKey) === attempt) this.#joining.delete(attemptKey)
    }
  }

  /** Removes a device from a room, or aborts the attempt to add it. */
  remove(roomId: string, userId: string): void {
    this.#joining.get(joiningKey(roomId, userId))?.abort(new DeviceFailure('closed', 'the device was removed'))
    const room = this.#rooms.find(roomId)
    room?.members.forgetLost(userId)
    if (room?.members.get(userId)?.device !== undefined) room.attendance.remove(userId, 'left')
  }

  /** Aborts all attempts for a room that closes. */
  endAll(roomId: string): void {
    for (const [key, attempt] of this.#joining) {
      if (key.startsWith(joiningKey(roomId, ''))) attempt.abort(new DeviceFailure('nodeFailed', 'the room was closed'))
    }
  }

  #lost({ attendance, config: { roomId } }: Room, userId: string, { kind, message: detail }: RtspError): void {
    if (attendance.remove(userId, 'lost')) this.#controller.notify('deviceLost', { roomId, userId, kind, detail })
  }

  /** @throws DeviceFailure */
  #admit(roomId: string, device: RoomDevice): Room {
    const room = this.#rooms.find(roomId)
    if (room === undefined) throw new DeviceFailure('nodeFailed', 'the room is not open on this node')
    const present = room.members.get(device.userId)
    if (present !== undefined && present.device === undefined) {
      throw new DeviceFailure('nodeFailed', 'a person of this userId is in the room')
    }
    if (present === undefined)
      asDevice(() => room.attendance.assertRoom({ wasIn: room.members.lost.has(device.userId) }))
    return room
  }
}

function joiningKey(roomId: string, userId: string): string {
  return `${JSON.stringify(roomId)}${userId}`
}

function asDevice<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw deviceFailure(error)
  }
}

function deviceFailure(error: unknown): unknown {
  if (error instanceof RtspError)
    return new DeviceFailure(error.kind, error.message, { cause: error, detail: error.detail })
  if (!(error instanceof Problem)) return error
  return new DeviceFailure(error.refusal === 'locked' ? 'roomLocked' : 'roomFull', error.message)
}

function sourceOf(address: DeviceAddress, { login, oldTls }: Pick<RoomDevice, 'login' | 'oldTls'>): CameraSource {
  return { address, login, oldTls }
}
