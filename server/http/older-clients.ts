import { LRUCache } from 'lru-cache'
import type { OlderClientsView, RefusedCall, RefusedClient } from '../../shared/console/older-clients.ts'
import { createOutgoingUser, deviceOperations } from '../../shared/device-operations.ts'
import { fieldOperations, serverInfo } from '../../shared/field-operations.ts'
import { createRoom, getMcu } from '../../shared/media-operations.ts'
import type { CompatibilitySetting, OperationContract } from '../../shared/operation.ts'
import { success } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Observation, RequestObserver } from '../observe/observation.ts'
import { doubleQuoted, tokenOf } from './parameters.ts'
import type { CompatibilitySwitches } from './routes.ts'

/** Settings overridden by a flag or the environment; undefined: the settings apply. */
export type FixedCompatibility = Readonly<Partial<Record<CompatibilitySetting, boolean | undefined>>>

const off: CompatibilitySwitches = { older_clients: false, get_access_token: false }
const older: CompatibilitySwitches = { older_clients: true, get_access_token: false }
const both: CompatibilitySwitches = { older_clients: true, get_access_token: true }

/** Returns the enabled switches; `get_access_token` requires `older_clients`. */
export function compatibilitySwitches(
  { compatibility }: Settings,
  fixed: FixedCompatibility = {},
): CompatibilitySwitches {
  if (!(fixed.older_clients ?? compatibility.older_clients)) return off
  return (fixed.get_access_token ?? compatibility.get_access_token) ? both : older
}

export interface OlderClientsOptions {
  settings: () => Settings
  sessions: Pick<Sessions, 'ownerOf'>
  isCredential: (accessKey: string) => boolean
  fixed?: FixedCompatibility | undefined
  /** Returns the current time, in milliseconds since the epoch. */
  clock?: () => number
}

/** Maximum number of refused calls counted separately by operation, address and credential. */
const maxRemembered = 200
/** Maximum number of refused calls shown to the operator. */
const maxShown = 20
/**
 * Maximum number of clients dismissed by the operator. Above this number, the client dismissed first is shown again.
 */
const maxDismissed = 200
const week = 7 * 24 * 60 * 60 * 1000

/**
 * Operations called only by older clients, by path. On the media port, these include the operations of the device API,
 * because both APIs had one origin.
 */
const theirs = {
  media: byPath([...fieldOperations, ...deviceOperations]),
  device: byPath(fieldOperations.filter(({ api }) => api === 'device')),
}

/**
 * Decides whether clients of the original platform receive the responses of that platform, and counts their calls.
 * Lists the refused clients for the operator.
 */
export class OlderClients implements RequestObserver {
  readonly #options: OlderClientsOptions
  /** Refused calls, the most recent first. */
  readonly #refused = new LRUCache<string, RefusedCall>({ max: maxRemembered })
  /** Clients that are not shown again while the controller runs. */
  readonly #dismissed = new LRUCache<string, true>({ max: maxDismissed })
  #served = 0
  #refusals = 0

  constructor(options: OlderClientsOptions) {
    this.#options = options
  }

  get switches(): CompatibilitySwitches {
    return compatibilitySwitches(this.#options.settings(), this.#options.fixed)
  }

  /** Numbers of calls by older clients since the start. */
  get counts(): { served: number; refused: number } {
    return { served: this.#served, refused: this.#refusals }
  }

  /** Counts a request that only older clients send. */
  observe(observation: Observation): void {
    const { operation, ret, params } = observation
    if (ret === success) {
      if (observation.olderOnly === true || (isSentByOlderClients(operation, params) && this.switches.older_clients)) {
        this.#served++
      }
    } else if (operation === '') this.#noteUnknownPath(observation)
    else if (isSentByOlderClients(operation, params)) this.#note(observation, operation, 'older_clients', true)
  }

  view(): OlderClientsView {
    const { older_clients, get_access_token } = this.switches
    const { fixed = {}, clock = Date.now } = this.#options
    const since = clock() - week
    const names = ['older_clients', 'get_access_token'] as const
    return {
      on: older_clients,
      get_access_token,
      fixed: names.filter((name) => fixed[name] !== undefined),
      served: this.#served,
      refused: [...this.#refused.values()]
        .filter(
          (call) => !this.switches[call.setting] && call.last_at >= since && !this.#dismissed.has(clientKey(call)),
        )
        .slice(0, maxShown),
    }
  }

  /** Dismisses a refused client, which is not shown again while the controller runs. */
  dismiss(client: RefusedClient): void {
    this.#dismissed.set(clientKey(client), true)
  }

  #noteUnknownPath(observation: Observation): void {
    const contract = theirs[observation.api].get(observation.path)
    if (contract === undefined) return
    const { name, setting = 'older_clients' } = contract
    this.#note(observation, name, setting, false)
  }

  #note(observation: Observation, operation: string, setting: CompatibilitySetting, by_parameters: boolean): void {
    if (this.switches[setting]) return
    this.#refusals++
    const { path, client } = observation
    const { clock = Date.now } = this.#options
    const credential = this.#credentialOf(observation)
    const key = JSON.stringify([operation, client, credential, by_parameters])
    const now = clock()
    const before = this.#refused.get(key)
    this.#refused.set(key, {
      setting,
      operation,
      path,
      by_parameters,
      client,
      credential,
      count: (before?.count ?? 0) + 1,
      first_at: before?.first_at ?? now,
      last_at: now,
    })
  }

  /**
   * Returns the credential that a call contains; empty: none. The token of a call to an unknown path was not checked.
   */
  #credentialOf({ credential, params }: Observation): string {
    const { sessions, isCredential } = this.#options
    const owner = credential || sessions.ownerOf(tokenOf(serverInfo, params))
    const named = params.get('accessKey')
    const accessKey = owner || (typeof named === 'string' ? named : '')
    return isCredential(accessKey) ? accessKey : ''
  }
}

function clientKey({ setting, client, credential }: RefusedClient): string {
  return JSON.stringify([setting, client, credential])
}

function byPath(contracts: readonly OperationContract[]): ReadonlyMap<string, OperationContract> {
  return new Map(contracts.map((contract) => [contract.path, contract]))
}

type GivenOptions = string | Record<string, unknown> | undefined

/** Text that a script sends for an argument that was not specified. */
const notGiven = 'undefined'
const singleQuoted = /^\s*\{\s*'/

/**
 * Corrects `options` of older clients: the text `undefined` means no options, and single quotes become double quotes.
 */
export function optionsAsMeant<O extends GivenOptions>(options: O): O | string | undefined {
  if (typeof options !== 'string') return options
  return options.trim() === notGiven ? undefined : doubleQuoted(options)
}

/** Whether an operation accepts these parameters only from older clients. */
function isSentByOlderClients(operation: string, params: ReadonlyMap<string, unknown>): boolean {
  switch (operation) {
    case createRoom.name:
      return params.get('topic') === '' || params.get('owner_id') === ''
    case createOutgoingUser.name:
      return params.get('userName') === '' || isOlderOptions(params.get('options'))
    case getMcu.name:
      return isOlderOptions(params.get('options'))
    default:
      return false
  }
}

function isOlderOptions(options: unknown): boolean {
  return typeof options === 'string' && (options.trim() === notGiven || singleQuoted.test(options))
}
