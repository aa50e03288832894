import type { ClientWatchView } from '../../shared/console/clients.ts'
import { smallPictureUrl, testCameraUrl } from '../../shared/media/test-camera.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { FaultRules } from '../lab/faults.ts'
import type { LabCameras } from '../lab/lab-cameras.ts'
import type { LabPeople } from '../lab/lab-people.ts'
import { reportKey, reportKeyPurpose, signPage } from '../lab/report-page.ts'
import type { SimulatedPeople } from '../lab/simulated-people.ts'
import type { StuckDisk } from '../lab/stuck-disk.ts'
import type { TrafficRecorder } from '../lab/traffic/recorder.ts'
import type { ClientWatches } from '../lab/watch/client-watches.ts'
import { clientReport } from '../lab/watch/report.ts'
import { userView } from '../rooms/room-views.ts'
import type { Store } from '../store/store.ts'
import type { EventHub } from './event-hub.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'

/** Procedures of the lab: people of simulated nodes, faults, test cameras, test people and recorded traffic. */
export function labHandlers({
  people,
  faults,
  stuckDisk: disk,
  traffic,
  labCameras: cameras,
  labPeople,
  outgoing,
  hub,
}: {
  people: SimulatedPeople
  faults: FaultRules
  stuckDisk: StuckDisk
  traffic: TrafficRecorder
  labCameras: LabCameras
  labPeople: LabPeople
  outgoing: Pick<OutgoingUsers, 'creation' | 'view'>
  hub: Pick<EventHub, 'emit'>
}): ProcedureHandlers<ProceduresOf<'lab'>> {
  /** Returns the handler of a change that no other event reports. */
  const telling =
    <I, R>(change: (input: I) => R | Promise<R>) =>
    async (input: I): Promise<R> => {
      const result = await change(input)
      hub.emit('lab.changed', {})
      return result
    }
  return {
    'lab.state': () => ({ store_stalled: disk.endsAt > 0, store_stalled_until: disk.endsAt, nodes: people.faults() }),
    'lab.join': async ({ room_id, user_id, user_name, host_password }) => {
      const person = { userId: user_id, userName: user_name, hostPassword: host_password }
      return userView(await people.join(room_id, person))
    },
    'lab.leave': ({ room_id, user_id }) => {
      people.leave(room_id, user_id)
      return {}
    },
    'lab.node_trouble': telling(({ name, mode, delay_ms }) => {
      people.setFault(name, { mode, delayMs: delay_ms })
      return {}
    }),
    'lab.device_trouble': telling(({ name, rules }) => {
      people.setDeviceFaults(name, rules)
      return {}
    }),
    'lab.lose_device': ({ userId, kind }) => {
      people.loseDevice(userId, kind)
      return {}
    },
    'lab.faults': () => faults.list(),
    'lab.set_faults': ({ rules }) => {
      faults.set(rules)
      return faults.list()
    },
    'lab.cameras': () => cameras.list(),
    'lab.put_camera': telling((spec) => cameras.put(spec)),
    'lab.remove_camera': telling(async ({ camera }) => {
      await cameras.remove(camera)
      return {}
    }),
    'lab.people': () => labPeople.list(),
    'lab.put_people': telling((spec) => labPeople.put(spec)),
    'lab.remove_people': telling(async ({ group }) => {
      await labPeople.remove(group)
      return {}
    }),
    'lab.camera_to_room': async ({ camera, room_id, userName }) => {
      const spec = cameras.get(camera)
      const { userId } = await outgoing.creation.add({
        ...{ roomId: room_id, userName: userName ?? spec.name, userData: '' },
        ...{ userAddress: testCameraUrl(spec), assist_address: smallPictureUrl(spec) },
        ...(spec.auth !== 'none' && { login_name: spec.user, login_password: spec.password }),
      })
      const added = outgoing.view(userId)
      if (added === undefined) throw new ApiError('outgoingUserNotFound')
      return added
    },
    'lab.stall_store': telling(({ stalled, minutes }) => {
      if (stalled) disk.begin(minutes)
      else disk.end()
      return {}
    }),
    'lab.traffic': () => traffic.state,
    'lab.record_traffic': ({ running, minutes }) => {
      if (running) traffic.begin(minutes * 60_000)
      else traffic.end()
      return traffic.state
    },
    'lab.traffic_file': () => ({ text: traffic.text }),
  }
}

/** Procedures of watched API clients. @param version version of the product, for reports */
export function clientHandlers(
  watches: ClientWatches,
  store: Pick<Store, 'keyFor'>,
  version: string,
): ProcedureHandlers<ProceduresOf<'clients'>> {
  const key = reportKey(store.keyFor(reportKeyPurpose))
  const viewOf = (accessKey: string): ClientWatchView => ({ ...watches.view(accessKey), report_key: key.name })
  return {
    'clients.watched': () => watches.list(),
    'clients.checks': ({ access_key }) => viewOf(access_key),
    'clients.watch': ({ access_key, running, hours }) => {
      if (running) watches.begin(access_key, hours * 3_600_000)
      else watches.end(access_key)
      return viewOf(access_key)
    },
    'clients.report': ({ access_key, language }) => {
      const page = clientReport(viewOf(access_key), { language, version, at: Date.now() })
      return { text: signPage(page, key) }
    },
  }
}
