import { z } from 'zod'
import { rightOf } from '../../shared/authorization/api-pages.ts'
import type { CompatibilitySetting, OperationContract } from '../../shared/operation.ts'
import type { ApiName, ErrorName } from '../../shared/result-codes.ts'
import type { AnyOperation, ApiCaller } from './operation.ts'
import { type Parameters, speakName, tokenOf } from './parameters.ts'

/** The parsed parameters, or their first problem. */
type Parsed = { ok: true; params: unknown } | { ok: false; problem: ParameterProblem }

/** An operation with everything that can be computed in advance. */
export interface Route {
  name: string
  /** API of the operation: determines its error numbers and its parameters. */
  api: ApiName
  /** Whether the answer has the form for clients of the original platform. */
  forOlderClients: boolean
  /** Whether this listener has the operation only for clients of the original platform. */
  olderOnly: boolean
  methods: readonly string[]
  /** See OperationContract. */
  safe: boolean
  /** Whether the operation requires the token of a session. */
  guarded: boolean
  /** Error for an unexpected failure. */
  unexpected: ErrorName
  parse(parameters: Parameters): Parsed
  /** Name of the parameter with the access_key, for an operation without a token. */
  credentialName: string
  /** Returns the token; empty: none. */
  token(parameters: Parameters): string
  /** Returns room_id or roomId; empty: the operation has none. */
  room(parameters: Parameters, result: unknown): string
  run(params: unknown, caller: ApiCaller): unknown
}

const unavailable: readonly ErrorName[] = ['createUnavailable', 'destroyUnavailable', 'listUnavailable']

/**
 * Prepares an operation.
 * @param olderOnly see Route
 */
function makeRoute(operation: AnyOperation, olderOnly = false): Route {
  const { contract } = operation
  const shape: Record<string, z.ZodType> = contract.params.shape
  const names = Object.keys(shape)
  const optional = new Set(names.filter((name) => shape[name] instanceof z.ZodOptional))
  const zeroIsNotGiven = new Set<string>(contract.zeroIsNotGiven)
  const roomName = names.find((name) => name === 'room_id' || name === 'roomId')
  return {
    name: contract.name,
    api: contract.api,
    forOlderClients: contract.setting !== undefined,
    olderOnly,
    methods: contract.methods,
    safe: contract.safe,
    guarded: rightOf(contract) === 'session',
    unexpected: contract.errors.find((name) => unavailable.includes(name)) ?? 'internal',
    parse(parameters) {
      // Only declared names are read, so that no other input of a caller becomes a key of an object.
      const input: Record<string, unknown> = {}
      for (const name of names) {
        const value = parameters.get(name)
        if (value === undefined || (value === '' && optional.has(name))) continue
        if (!isZero(value) || !zeroIsNotGiven.has(name)) input[name] = value
      }
      const parsed = contract.params.safeParse(input)
      if (parsed.success) return { ok: true, params: parsed.data }
      return { ok: false, problem: parameterProblem(parsed.error, input) }
    },
    credentialName: names.find((name) => contract.disclosure[name] === 'credential') ?? '',
    token: (parameters) => tokenOf(contract, parameters),
    room(parameters, result) {
      if (roomName !== undefined) {
        const value = parameters.get(roomName)
        return typeof value === 'string' ? value : ''
      }
      return typeof result === 'object' && result !== null && 'room_id' in result ? String(result.room_id) : ''
    },
    // The schema of the contract made these parameters. Their type was erased, so that one list can contain all
    // operations.
    run: (params, caller) => operation.run(params as never, caller),
  }
}

function isZero(value: unknown): boolean {
  return value === '0' || value === 0
}

/** A rejected parameter, in one plain sentence. */
interface ParameterProblem {
  field: string
  /** Contains the name of the parameter, never its value. */
  message: string
}

type Issue = z.core.$ZodIssue

/** Returns the message about the first wrong parameter, in the order of the schema. `input` is the parsed input. */
function parameterProblem(error: z.core.$ZodError, input: Readonly<Record<string, unknown>>): ParameterProblem {
  const issue = error.issues[0]
  const field = String(issue?.path[0] ?? '')
  const name = speakName(field)
  if (issue === undefined) return { field, message: 'A parameter is malformed.' }
  if (input[field] === undefined) return { field, message: `${name} is missing.` }
  return { field, message: `${name} ${expectation(issue)}.` }
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'string'
        ? 'must be text'
        : issue.message.startsWith('must')
          ? issue.message
          : 'is malformed'
    case 'too_big':
      return issue.message.startsWith('must') ? issue.message : `must be at most ${issue.maximum} characters long`
    case 'invalid_union': {
      // The alternative with the deepest problem describes the input best; a message of the union itself has
      // precedence.
      if (issue.message.startsWith('must')) return issue.message
      const inner = issue.errors.flat().find((alternative) => alternative.code !== 'invalid_type')
      return inner === undefined ? 'is of the wrong type' : expectation(inner)
    }
    default:
      return issue.message.startsWith('must') ? issue.message : 'is malformed'
  }
}

/** Enabled settings of `compatibility`. */
export type CompatibilitySwitches = Readonly<Record<CompatibilitySetting, boolean>>

/** Operations for clients of the original platform, and their switches. */
export interface Compatibility {
  /** Operations added to the listener. An operation with an existing path replaces the listener's own operation. */
  operations: readonly AnyOperation[]
  /** Returns the switches. Called per request: a change of the settings applies at once. */
  switches: () => CompatibilitySwitches
}

/** The operations of a listener, by path. */
export interface RouteTable {
  /** Whether clients of the original platform are served. */
  older: boolean
  routes: ReadonlyMap<string, Route>
  contracts: readonly OperationContract[]
}

/** Returns a function that selects the table in force; all possible tables are made in advance. */
export function routeTables(
  operations: readonly AnyOperation[],
  compatibility: Compatibility | undefined,
): () => RouteTable {
  const table = (more: readonly AnyOperation[], older: boolean): RouteTable => {
    const plain = new Set(operations.map(({ contract }) => contract.path))
    const byPath = new Map([...operations, ...more].map((operation) => [operation.contract.path, operation]))
    const routes = Array.from(byPath, ([path, operation]) => [path, makeRoute(operation, !plain.has(path))] as const)
    return { older, routes: new Map(routes), contracts: Array.from(byPath.values(), ({ contract }) => contract) }
  }
  const off = table([], false)
  if (compatibility === undefined) return () => off
  const { operations: more, switches } = compatibility
  const on = table(
    more.filter(({ contract }) => contract.setting !== 'get_access_token'),
    true,
  )
  const all = table(more, true)
  return () => {
    const { older_clients, get_access_token } = switches()
    return older_clients ? (get_access_token ? all : on) : off
  }
}
