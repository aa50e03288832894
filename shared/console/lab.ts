import { z } from 'zod'
import { deviceErrorKinds } from '../device.ts'
import { limits } from '../limits.ts'
import { bytes, nameBytes } from '../operation.ts'
import { change, read } from './declare.ts'
import { done, moment, emptyOutcome } from '../domain/outcome.ts'
import { admin, operator, viewer } from './procedure-access.ts'
import { changes, recordedAs, subject } from './procedure-events.ts'
import { deviceView } from '../domain/devices.ts'
import { roomUserView } from '../domain/rooms.ts'
import { testCameraView } from '../domain/test-cameras.ts'
import { testPeopleView } from '../domain/test-people.ts'
import { testCameraSpecSchema } from '../media/test-camera.ts'
import { testPeopleSpecSchema } from '../media/test-people.ts'
import { roomId, userId } from '../domain/ids.ts'

/** Faults of a simulated node. The lab simulates users and faults; the console marks everything in it as simulated. */

export const nodeTroubles = ['none', 'offline', 'slow', 'silent', 'failing'] as const
export type NodeTrouble = (typeof nodeTroubles)[number]

/**
 * Duration of faults that affect real clients, in minutes. It is limited to a day, so that a forgotten fault causes no
 * permanent harm.
 */
const minutes = z.int().min(1).max(1_440).default(10)

/** Rule that makes an API operation fail or delays it. */
export const faultRule = z.strictObject({
  /** Name of the operation; `*`: all operations. */
  operation: z.string().min(1).max(64),
  /** Delay before the operation runs, in milliseconds. */
  delay_ms: z.int().min(0).max(60_000).default(0),
  /** `ret` of the response, instead of running the operation; null: the operation runs. */
  ret: z.int().nullable().default(null),
  /** Whether to close the connection without a response. */
  drop: z.boolean().default(false),
  /** Share of matching requests to which the rule is applied, 0 to 1. */
  probability: z.number().min(0).max(1).default(1),
  /** Number of applications after which the rule ends; 0: unlimited. */
  times: z.int().min(0).default(0),
  minutes,
})
export type FaultRule = z.output<typeof faultRule>

/** Active rule with its end. */
const faultInForce = faultRule.extend({ ends_at: moment })
export type FaultInForce = z.output<typeof faultInForce>

/** Rule to apply; a rule that is already active keeps its end. */
const wantedFault = faultRule.extend({ ends_at: moment.optional() })
export type WantedFault = z.output<typeof wantedFault>

const deviceRule = z.strictObject({ match: z.string().max(1024), kind: z.enum([...deviceErrorKinds, 'silent']) })
export type DeviceRule = z.output<typeof deviceRule>

/** Recording of API traffic. */
const trafficState = z.strictObject({
  /** Start of the recording; 0: there is none. */
  began_at: moment,
  /** End of the recording; in the future while it runs. */
  ends_at: moment,
  running: z.boolean(),
  calls: z.int(),
  /** Number of requests that are not recorded, because they call no operation. */
  skipped: z.int(),
  /** Whether the recording ended because it reached its maximum length. */
  full: z.boolean(),
})
export type TrafficState = z.output<typeof trafficState>

export const labProcedures = {
  'lab.state': read({
    summary: 'The simulated faults that are active.',
    input: emptyOutcome,
    output: z.strictObject({
      store_stalled: z.boolean(),
      /** Time at which writes succeed again; 0: writes are not stalled. */
      store_stalled_until: moment,
      nodes: z.array(
        z.strictObject({
          name: z.string(),
          mode: z.enum(nodeTroubles),
          delay_ms: z.int(),
          device_rules: z.array(deviceRule),
        }),
      ),
    }),
    access: viewer('site:read'),
    refreshOn: ['lab.changed', 'nodes.changed', 'attention.changed'],
  }),
  'lab.join': change({
    summary:
      'A simulated person, who has no media, joins a room on a simulated node; the room is assigned an MCU where it has none.',
    input: z.strictObject({
      room_id: roomId,
      user_id: userId,
      user_name: nameBytes(1, limits.userName),
      host_password: bytes(0, limits.hostPassword).default(''),
    }),
    output: roomUserView,
    access: operator('lab:write'),
    event: recordedAs('person.joined'),
  }),
  'lab.leave': change({
    summary: 'A simulated person leaves.',
    input: z.strictObject({ room_id: roomId, user_id: userId }),
    output: done,
    access: operator('lab:write'),
    event: recordedAs('person.left'),
  }),
  'lab.node_trouble': change({
    summary: 'A simulated node goes offline, answers slowly, never answers, or says no to everything.',
    input: z.strictObject({
      name: z.string().min(1).max(limits.nodeName),
      mode: z.enum(nodeTroubles),
      delay_ms: z.int().min(0).max(60_000).default(1_000),
    }),
    output: done,
    access: operator('lab:write'),
    event: {
      outside: 'memory',
      subjects: ({ name }) => [subject.node(name)],
      facts: ({ mode, delay_ms }) => ({ mode, delay_ms }),
    },
  }),
  'lab.device_trouble': change({
    summary:
      'On a simulated node, devices whose address holds `match` fail in this way or never answer. Replaces the earlier rules.',
    input: z.strictObject({
      name: z.string().min(1).max(limits.nodeName),
      rules: z.array(deviceRule).max(100),
    }),
    output: done,
    access: operator('lab:write'),
    event: {
      outside: 'memory',
      subjects: ({ name }) => [subject.node(name)],
      facts: ({ rules }) => ({ rules: rules.length }),
    },
  }),
  'lab.lose_device': change({
    summary: 'A joined device on a simulated node drops.',
    input: z.strictObject({ userId, kind: z.enum(deviceErrorKinds).default('closed') }),
    output: done,
    access: operator('lab:write'),
    event: {
      outside: 'nodes',
      subjects: ({ userId }) => [subject.device(userId)],
      facts: ({ kind }) => ({ kind }),
    },
  }),
  'lab.cameras': read({
    summary: 'The test cameras, and what each of them does right now.',
    input: emptyOutcome,
    output: z.array(testCameraView),
    access: operator('site:read'),
    refreshOn: ['lab.changed', 'nodes.changed', 'devices.changed'],
  }),
  'lab.put_camera': change({
    summary: 'Start a test camera, or replace the one of the same name. Port 0 picks a free port.',
    input: testCameraSpecSchema,
    output: testCameraView,
    access: admin('lab:write'),
    event: {
      collection: 'test_cameras',
      subjects: ({ name }) => [subject.lab(name)],
      facts: ({ name, behaviours }) => ({ name, detail: behaviours.join(', ') }),
    },
  }),
  'lab.remove_camera': change({
    summary: 'Stop and remove a test camera. Devices with its address stay.',
    input: z.strictObject({ camera: z.string().min(1).max(40) }),
    output: done,
    access: admin('lab:write'),
    event: {
      collection: 'test_cameras',
      subjects: ({ camera }) => [subject.lab(camera)],
      facts: ({ camera }) => ({ name: camera }),
    },
  }),
  'lab.camera_to_room': change({
    summary: 'Add a test camera to a room as a device, with its login.',
    input: z.strictObject({
      camera: z.string().min(1).max(40),
      room_id: roomId,
      userName: nameBytes(1, limits.userName).optional(),
    }),
    output: deviceView,
    access: operator('devices:write'),
    event: changes('device'),
  }),
  'lab.people': read({
    summary: 'The groups of test people, and how many people of each are in their rooms right now.',
    input: emptyOutcome,
    output: z.array(testPeopleView),
    access: operator('site:read'),
    refreshOn: ['lab.changed', 'nodes.changed', 'rooms.changed'],
  }),
  'lab.put_people': change({
    summary: 'Let a group of test people with media join rooms, or replace the group of the same name.',
    input: testPeopleSpecSchema,
    output: testPeopleView,
    access: admin('lab:write'),
    event: {
      collection: 'test_people',
      subjects: ({ name }) => [subject.lab(name)],
      facts: ({ name, people, arrive }) => ({ name, count: people, detail: arrive }),
    },
  }),
  'lab.remove_people': change({
    summary: 'Let a group of test people leave, and remove it. Its rooms stay.',
    input: z.strictObject({ group: z.string().min(1).max(40) }),
    output: done,
    access: admin('lab:write'),
    event: {
      collection: 'test_people',
      subjects: ({ group }) => [subject.lab(group)],
      facts: ({ group }) => ({ name: group }),
    },
  }),
  'lab.faults': read({
    summary: 'The active fault rules.',
    input: emptyOutcome,
    output: z.array(faultInForce),
    access: viewer('site:read'),
    refreshOn: ['lab.changed'],
  }),
  'lab.set_faults': change({
    summary: 'Replace the fault rules.',
    input: z.strictObject({ rules: z.array(wantedFault).max(100) }),
    output: z.array(faultInForce),
    // A fault affects real clients.
    access: admin('lab:write'),
    event: {
      outside: 'memory',
      subjects: () => [subject.lab('faults')],
      facts: ({ rules }) => ({ rules: rules.length, operations: rules.map(({ operation }) => operation).join(', ') }),
    },
  }),
  'lab.stall_store': change({
    summary: 'Hold every write to the disk back, as a dead disk does, until told otherwise or the time is over.',
    input: z.strictObject({ stalled: z.boolean(), minutes }),
    output: done,
    access: admin('lab:write'),
    event: {
      outside: 'memory',
      subjects: () => [subject.lab('disk')],
      facts: ({ stalled, minutes }) => ({ stalled, minutes }),
    },
  }),
  'lab.traffic': read({
    summary: 'Whether the traffic of both APIs is recorded, and what the recording contains.',
    input: emptyOutcome,
    output: trafficState,
    access: admin('site:read'),
    refreshOn: ['activity.added'],
  }),
  'lab.record_traffic': change({
    summary:
      'Record the calls of both APIs and their answers, without secrets, for so many minutes or until it is stopped. A new recording replaces the last one.',
    input: z.strictObject({ running: z.boolean(), minutes: minutes.default(60) }),
    output: trafficState,
    access: admin('lab:write'),
    event: {
      outside: 'memory',
      subjects: () => [subject.lab('traffic')],
      facts: ({ running, minutes }) => ({ running, minutes }),
    },
  }),
  'lab.traffic_file': read({
    summary: 'The recorded traffic as NDJSON, for `roomdesk replay`; empty: nothing was recorded.',
    input: emptyOutcome,
    output: z.strictObject({ text: z.string() }),
    access: admin('site:read'),
    refreshOn: [],
  }),
}
