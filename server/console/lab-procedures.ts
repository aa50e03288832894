import type { FaultRules } from '../lab/faults.ts'
import type { SimulatedPeople } from '../lab/people.ts'
import type { StuckDisk } from '../lab/stuck-disk.ts'
import type { TrafficRecorder } from '../lab/traffic/recorder.ts'
import { userView } from '../rooms/room-views.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'

/** Procedures of the lab: simulated people, faults, and recorded traffic. */
export function labHandlers({
  people,
  faults,
  stuckDisk: disk,
  traffic,
}: {
  people: SimulatedPeople
  faults: FaultRules
  stuckDisk: StuckDisk
  traffic: TrafficRecorder
}): ProcedureHandlers<ProceduresOf<'lab'>> {
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
    'lab.node_trouble': ({ name, mode, delay_ms }) => {
      people.setFault(name, { mode, delayMs: delay_ms })
      return {}
    },
    'lab.device_trouble': ({ name, rules }) => {
      people.setDeviceFaults(name, rules)
      return {}
    },
    'lab.lose_device': ({ userId, kind }) => {
      people.loseDevice(userId, kind)
      return {}
    },
    'lab.faults': () => faults.list(),
    'lab.set_faults': ({ rules }) => {
      faults.set(rules)
      return faults.list()
    },
    'lab.stall_store': ({ stalled, minutes }) => {
      if (stalled) disk.begin(minutes)
      else disk.end()
      return {}
    },
    'lab.traffic': () => traffic.state,
    'lab.record_traffic': ({ running, minutes }) => {
      if (running) traffic.begin(minutes * 60_000)
      else traffic.end()
      return traffic.state
    },
    'lab.traffic_file': () => ({ text: traffic.text }),
  }
}
