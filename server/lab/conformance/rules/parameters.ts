import { limits } from '../../../../shared/limits.ts'
import type { OperationContract } from '../../../../shared/operation.ts'
import { checkedOperations, codeOf, type OperationName, requiredParameters, wellFormed } from '../operations.ts'
import { contract, type Source, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'
import { needsOperation } from './tokens.ts'

type Checked = OperationContract & { name: OperationName }

/** A value that a parameter must not have. */
interface WrongValue {
  kind: string
  /** Continues "<operation> with <parameter> …". */
  sentence: string
  value: string
  source: Source
  /** Place of the parameters: a query holds 8 KiB. */
  as?: 'json'
}

const tooLong = (max: number, source = contract('3')): WrongValue => ({
  kind: 'too-long',
  sentence: `of ${max + 1} bytes`,
  value: 'x'.repeat(max + 1),
  source,
})

/** A text of two-byte characters that has one byte more than is allowed, and half as many characters. */
const tooManyBytes = (max: number, source = contract('3')): WrongValue => ({
  kind: 'too-many-bytes',
  sentence: `of ${Math.ceil((max + 1) / 2)} characters in ${2 * Math.ceil((max + 1) / 2)} bytes of UTF-8`,
  value: 'é'.repeat(Math.ceil((max + 1) / 2)),
  source,
})

const unsafe: readonly WrongValue[] = [
  { kind: 'control-character', sentence: 'with a line break', value: 'line\nbreak', source: contract('1') },
  { kind: 'nul', sentence: 'with a NUL', value: 'a\u0000b', source: contract('1') },
]

const invisible: readonly WrongValue[] = [
  {
    kind: 'direction-mark',
    sentence: 'with a mark that changes the direction',
    value: 'a\u202eb',
    source: contract('1'),
  },
  { kind: 'blank', sentence: 'of blank letters only', value: '\u3164\u2800', source: contract('1') },
]

const wholeNumber = (below: number, above: number, source = contract('3')): readonly WrongValue[] => [
  { kind: 'below', sentence: `of ${below}`, value: String(below), source },
  { kind: 'above', sentence: `of ${above}`, value: String(above), source },
  { kind: 'fraction', sentence: 'of 1.5', value: '1.5', source },
  { kind: 'word', sentence: 'of "one"', value: 'one', source },
]

const id = (max: number): readonly WrongValue[] => [tooLong(max), ...unsafe]
const name = (max: number): readonly WrongValue[] => [tooLong(max), tooManyBytes(max), ...unsafe, ...invisible]
const choice: readonly WrongValue[] = [
  { kind: 'not-offered', sentence: 'of "other"', value: 'other', source: contract('3') },
]
const time: readonly WrongValue[] = [{ kind: 'word', sentence: 'of "now"', value: 'now', source: contract('3') }]

/** Values that are wrong wherever a parameter of this name occurs. */
const wrongValues: Readonly<Record<string, readonly WrongValue[]>> = {
  topic: [
    tooLong(limits.topic, specification('8')),
    tooManyBytes(limits.topic, specification('8')),
    ...unsafe,
    ...invisible,
  ],
  owner_id: name(limits.ownerId),
  room_mode: wholeNumber(0, 5, specification('2.1')),
  host_password: [tooLong(limits.hostPassword), ...unsafe],
  max_video: wholeNumber(-1, limits.maxStreams + 1),
  max_audio: wholeNumber(-1, limits.maxStreams + 1),
  attendee_max: wholeNumber(-1, limits.maxAttendees + 1),
  room_id: id(limits.roomExtendId),
  user_id: id(limits.userId),
  user_name: name(limits.userName),
  role: choice,
  ttl: wholeNumber(59, 2_592_001),
  sound: choice,
  picture: choice,
  container: choice,
  source: choice,
  count: wholeNumber(0, 1_001),
  begin: [{ kind: 'below', sentence: 'of -1', value: '-1', source: contract('3') }],
  from: time,
  to: time,
  id: id(64),
  roomId: id(limits.roomExtendId),
  userId: name(limits.userId),
  userName: name(limits.userName),
  userData: [tooLong(limits.userData), ...unsafe],
}

/** Wrong values for single parameters of single operations, by `operation.parameter`. */
const ofOperation: Readonly<Record<string, readonly WrongValue[]>> = {
  'create_room.room_extend_id': name(limits.roomExtendId),
  'get_room_by_extend_id.room_extend_id': id(limits.roomExtendId),
  // Ids that exist already are looked up: names of earlier versions must be found.
  'destroy_outgoing_user.userId': id(limits.userId),
  'get_mcu.options': [
    { kind: 'not-json', sentence: 'that is not JSON', value: '{ip_tag}', source: contract('3') },
    { kind: 'no-object', sentence: 'that is a list', value: '[]', source: contract('3') },
  ],
  'create_outgoing_user.options': [
    { kind: 'login-name', sentence: 'whose login_name is a number', value: '{"login_name":1}', source: contract('4') },
    { kind: 'not-json', sentence: 'that is not JSON', value: '{login_name}', source: contract('4') },
    { kind: 'no-object', sentence: 'that is a list', value: '["admin"]', source: contract('4') },
    {
      kind: 'too-long',
      sentence: 'of more than 8 KB',
      value: `{"x":"${'x'.repeat(limits.deviceOptions)}"}`,
      source: contract('4'),
      as: 'json',
    },
  ],
  'create_outgoing_user.userAddress': [
    ...[
      'http://10.0.0.5/stream',
      'rtsp://',
      '10.0.0.5:554',
      'rtsp://10.0.0.5:0/',
      'rtsp://10.0.0.5:65536/',
      'rtsp://10.0.0.256/',
    ].map(
      (value, index): WrongValue => ({
        kind: `no-address-${index + 1}`,
        sentence: `"${value}"`,
        value,
        source: index === 0 ? specification('2.3') : contract('4'),
      }),
    ),
    { ...tooLong(limits.userAddress, contract('4')), value: `rtsp://10.0.0.5/${'x'.repeat(limits.userAddress)}` },
    { kind: 'control-character', sentence: 'with a line break', value: 'rtsp://10.0.0.5/\r\nx', source: contract('4') },
  ],
}

/** A wrong value, or none: its source is by default the table of parameters. */
type Wrong = Pick<WrongValue, 'kind' | 'sentence' | 'as'> & { value: string | undefined; source?: Source }

const missing: Wrong = { kind: 'missing', sentence: 'missing', value: undefined }
const empty: Wrong = { kind: 'empty', sentence: 'empty', value: '' }

/** Rules about the parameters of each operation, of its declaration and the tables above. */
export const parameterRules: readonly Rule[] = checkedOperations
  // A wrong key pair is a failed authentication, not a wrong parameter.
  .filter(({ token }) => token !== null)
  .flatMap((operation) => {
    const wrong = wrongOf(operation)
    const rules = wrong.map(([parameter, value]) => refusedParameter(operation, parameter, value))
    return wrong.length === 0 ? [] : [...rules, namedParameters(operation, wrong)]
  })

/** Returns the parameters of an operation, each with the values that are wrong for it. */
function wrongOf(operation: Checked): [parameter: string, wrong: Wrong][] {
  const required = requiredParameters(operation)
  return Object.keys(operation.params.shape).flatMap((parameter) => {
    const values = ofOperation[`${operation.name}.${parameter}`] ?? wrongValues[parameter] ?? []
    const all = required.includes(parameter) ? [missing, empty, ...values] : values
    return all.map((value): [string, Wrong] => [parameter, value])
  })
}

function refusedParameter(operation: Checked, parameter: string, wrong: Wrong): Rule {
  const { name, api, extension } = operation
  const { kind, sentence, source = specification(api === 'media' ? '4.1' : '4.2') } = wrong
  return {
    id: `${name}.${parameter}.${kind}`,
    sentence: `${name} with ${parameter} ${sentence} is refused with ${codeOf(name, 'parameter')}.`,
    source: extension === true ? contract('3') : source,
    check: async (trial) => {
      await needsOperation(trial, name)
      await callWrong(trial, name, parameter, wrong)
    },
  }
}

/** A rule about the messages of an operation: one call for each of its parameters. */
function namedParameters({ name }: Checked, wrong: readonly (readonly [string, Wrong])[]): Rule {
  return {
    id: `${name}.names-parameter`,
    sentence: `The msg of ${name} names the parameter that is missing or wrong.`,
    source: contract('1'),
    check: async (trial) => {
      await needsOperation(trial, name)
      for (const [parameter, value] of new Map(wrong)) await callWrong(trial, name, parameter, value, parameter)
    },
  }
}

/** Calls an operation with a wrong parameter, which it must refuse. @param names text that `msg` must contain */
async function callWrong(
  trial: Trial,
  operation: OperationName,
  parameter: string,
  { value, as }: Wrong,
  names?: string,
): Promise<void> {
  const given = { ...wellFormed(operation, trial.id()), [parameter]: value }
  const params = Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined))
  await trial.refused(operation, params, 'parameter', { ...(names && { names }), ...(as && { as }) })
}
