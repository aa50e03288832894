import type { Observation } from '../../../server/observe/observation.ts'

/** Makes a request as reported by a listener, with these differences. */
export function observation(fields: Partial<Observation> = {}): Observation {
  return {
    at: 1_700_000_000_000,
    api: 'media',
    operation: 'get_room',
    method: 'GET',
    path: '/rtc/room/get',
    ret: 0,
    duration: 1.5,
    client: '10.0.0.1',
    credential: 'demo_access',
    room: '1',
    params: new Map(),
    msg: '',
    reason: '',
    ...fields,
  }
}
