import type { ProcedureParsed } from '../../shared/console/contract.ts'
import { parseDeviceAddress, sameAddress } from '../../shared/device-address.ts'
import { leavesMachine } from '../../shared/bind-address.ts'
import type { FirstRun } from '../../shared/first-run.ts'
import { testCameraSpecSchema } from '../../shared/media/test-camera.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { lanAddresses } from '../edge/network-addresses.ts'
import type { LabCameras } from '../lab/lab-cameras.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { putSettings } from '../store/site-settings.ts'
import type { Store } from '../store/store.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'

interface FirstRunDependencies {
  store: Store
  settings: () => Settings
  /** Effective bind address: a flag overrides the setting. */
  host: () => string
  rooms: Pick<Rooms, 'create' | 'update'>
  outgoing: Pick<OutgoingUsers, 'creation' | 'update' | 'view' | 'views'>
  labCameras: Pick<LabCameras, 'ensure'>
}

type Camera = ProcedureParsed<'first_run.add_camera'>

/** Whether the console opens with the first-run setup: the site is empty, or the setup is in progress. */
export function isFirstRun({ console }: Settings, store: Pick<Store, 'all'>): boolean {
  return !console.welcome_done && (console.first_run.purpose !== '' || store.all('rooms').size === 0)
}

/**
 * Procedures of the first-run setup. Calls are executed one after another, so that a repeated call finds the results of
 * an earlier call.
 */
export function firstRunHandlers(dependencies: FirstRunDependencies): ProcedureHandlers<ProceduresOf<'first_run'>> {
  const { store, settings, host, rooms, outgoing, labCameras } = dependencies
  const progress = (): FirstRun => settings().console.first_run
  let queue: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(job: () => Promise<T>): Promise<T> => {
    const turn = queue.then(job)
    // The caller receives the error through `turn`.
    queue = turn.catch(() => undefined)
    return turn
  }

  async function note(changes: Partial<FirstRun>): Promise<void> {
    await store.transact(['settings'], (transaction) => {
      const before = settings()
      const first_run = { ...before.console.first_run, ...changes }
      putSettings(transaction, { ...before, console: { ...before.console, first_run } }, store)
    })
  }

  /** Returns the room created by the first-run setup; undefined if no room was created, or it was deleted. */
  const roomMade = (): { room_id: string; topic: string } | undefined => {
    const { room_id } = progress()
    const room = room_id === '' ? undefined : store.get('rooms', room_id)
    return room === undefined ? undefined : { room_id, topic: room.topic }
  }

  /** Returns the camera added last to this room; undefined if no camera was added, or it was deleted. */
  const cameraMade = (room_id: string): DeviceView | undefined => {
    const { user_id } = progress()
    const device = user_id === '' ? undefined : outgoing.view(user_id)
    return device?.roomId === room_id ? device : undefined
  }

  async function addCamera(camera: Camera): Promise<DeviceView> {
    const room = roomMade()
    if (room === undefined) throw new ApiError('roomNotFound')
    const { userAddress, login_name, login_password } = camera
    const { address } = parseDeviceAddress(userAddress)
    const known = outgoing.views(room.room_id).find((device) => sameAddress(device.userAddress, address))
    if (known === undefined) {
      const { userId } = await outgoing.creation.add({ ...camera, roomId: room.room_id, userData: '' })
      await note({ user_id: userId })
    } else {
      const login = { ...(login_name && { login_name }), ...(login_password && { login_password }) }
      if (Object.keys(login).length > 0) await outgoing.update(known.userId, login)
      await note({ user_id: known.userId })
    }
    const added = cameraMade(room.room_id)
    if (added === undefined) throw new ApiError('outgoingUserNotFound')
    return added
  }

  return {
    'first_run.get': () => {
      const { purpose, step, room_id } = progress()
      const { link_address } = settings().listeners
      const room = roomMade() ?? null
      const addresses = lanAddresses()
      return {
        ...{ purpose, step, room },
        room_deleted: room === null && room_id !== '',
        camera: room === null ? '' : (cameraMade(room.room_id)?.userId ?? ''),
        open: leavesMachine(host()),
        addresses,
        address: addresses.includes(link_address) ? link_address : '',
      }
    },
    'first_run.save': async ({ purpose, step }) => {
      await inTurn(() => note({ ...(purpose !== undefined && { purpose }), ...(step !== undefined && { step }) }))
      return {}
    },
    'first_run.make_room': ({ topic }) =>
      inTurn(async () => {
        const made = roomMade()
        if (made !== undefined) {
          if (made.topic !== topic) await rooms.update(made.room_id, { topic }, '')
          return { room_id: made.room_id, topic }
        }
        const { room_id } = await rooms.create({ topic, owner_id: 'operator', room_mode: 1 }, '')
        await note({ room_id, user_id: '' })
        return { room_id, topic }
      }),
    'first_run.add_camera': (camera) => inTurn(() => addCamera(camera)),
    'first_run.add_test_camera': ({ userName }) =>
      inTurn(async () => {
        const { url } = await labCameras.ensure(testCameraSpecSchema.parse({ name: 'test-camera' }))
        return await addCamera({ userName, userAddress: url })
      }),
  }
}
