import { type ErrorName, retOf } from '../../../shared/result-codes.ts'
import { NoReplyError } from '../client/api-call.ts'
import { answerRules } from './answer-rules.ts'
import type { Cameras } from './cameras.ts'
import type { ApiClient, Observation } from './client.ts'
import { checkedOperations } from './operations.ts'
import { type Rule, type RuleGroup, Trial } from './trial.ts'
import {
  BrokenRuleError,
  contract,
  NotProvokedError,
  type Outcome,
  type ShownExchange,
  type Source,
  specification,
  type Verdict,
} from './verdict.ts'

/** Title of the group of rules that each answer must follow. */
const answerGroup = 'Every answer'
/** Exchanges of a broken rule that are reported. */
const shownExchanges = 5
/** Maximum time for the removal of records after an interrupt, in milliseconds. */
const removalMs = 15_000

/** Result of a run. */
export interface Judgement {
  verdicts: readonly Verdict[]
  /** Records that may be left on the server, for people. */
  left: readonly string[]
  /** Whether the run was ended before all rules were checked. */
  interrupted: boolean
}

interface JudgeOptions {
  client: ApiClient
  cameras: Cameras
  groups: readonly RuleGroup[]
  /** Documents whose rules about every answer are reported. */
  documents: readonly Source['document'][]
  signal: AbortSignal
}

/** Checks all rules one after the other, and then removes everything that was made on the server. */
export async function judge({ client, cameras, groups, documents, signal }: JudgeOptions): Promise<Judgement> {
  const watch = new AnswerWatch(client)
  const verdicts: Verdict[] = []
  let left: string[]
  try {
    for (const { title, rules } of groups)
      for (const rule of rules)
        verdicts.push({ ...factsOf(rule, title), ...(await outcomeOf(rule, new Trial(client, cameras, signal))) })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    left = await removeAll(client)
  }
  const all = [...verdicts, ...watch.verdicts(), ...unprovokedCodes(watch.answered)]
  const wanted = all.filter(({ source }) => documents.includes(source.document))
  return { verdicts: wanted, left, interrupted: signal.aborted }
}

/** Removes everything that a client made. Returns what may be left. */
async function removeAll(client: ApiClient): Promise<string[]> {
  const deadline = AbortSignal.timeout(removalMs)
  return await client.made.remove(async (name, params) => {
    try {
      return await client.call(name, params, {}, deadline)
    } catch (error) {
      if (error instanceof NoReplyError || error instanceof NotProvokedError || deadline.aborted) return undefined
      throw error
    }
  })
}

function factsOf({ id, sentence, source }: Pick<Rule, 'id' | 'sentence' | 'source'>, group: string) {
  return { id, group, sentence, source }
}

async function outcomeOf(rule: Rule, trial: Trial): Promise<Outcome> {
  const exchanges: ShownExchange[] = []
  trial.client.onExchange = (exchange) => void exchanges.push(exchange)
  try {
    await rule.check(trial)
    return { outcome: 'holds' }
  } catch (error) {
    trial.signal.throwIfAborted()
    if (error instanceof NotProvokedError) return { outcome: 'notProvoked', reason: error.message }
    const last = exchanges.slice(-shownExchanges)
    if (error instanceof NoReplyError)
      return { outcome: 'broken', expected: 'an answer', came: `The server ${error.message}.`, exchanges: last }
    if (!(error instanceof BrokenRuleError)) throw error
    return { outcome: 'broken', expected: error.expected, came: error.came, exchanges: last }
  }
}

/** Checks the rules about every answer while others are checked. */
class AnswerWatch {
  readonly #faults = new Map<string, { expected: string; came: ShownExchange }>()
  readonly #applied = new Set<string>()
  /** Operations with the codes that they answered, as `operation.code`. */
  readonly answered = new Set<string>()

  constructor(client: ApiClient) {
    client.onAnswer = (observation) => this.#check(observation, (text) => client.secrets.foundIn(text) !== undefined)
  }

  #check(observation: Observation, secret: (text: string) => boolean): void {
    const { operation, answer } = observation
    if (operation !== undefined) this.answered.add(`${operation.name}.${answer.ret ?? ''}`)
    for (const { id, applies, fault } of answerRules) {
      if (applies?.(observation) === false) continue
      this.#applied.add(id)
      const expected = this.#faults.has(id) ? undefined : fault(observation, secret)
      if (expected !== undefined) this.#faults.set(id, { expected, came: answer.exchange })
    }
  }

  verdicts(): Verdict[] {
    return answerRules.map((rule): Verdict => {
      const facts = factsOf(rule, answerGroup)
      const fault = this.#faults.get(rule.id)
      if (fault !== undefined) {
        const { expected, came } = fault
        return { ...facts, outcome: 'broken', expected, came: came.came, exchanges: [came] }
      }
      if (this.#applied.has(rule.id)) return { ...facts, outcome: 'holds' }
      return { ...facts, outcome: 'notProvoked', reason: 'no answer of this run is of this kind' }
    })
  }
}

/** Conditions under which a server answers with the code of an error. */
const conditions: Readonly<Partial<Record<ErrorName, string>>> = {
  authenticationTimeout: 'a database that does not answer',
  licenceExpired: 'a site whose licence has expired',
  licenceExceeded: 'a site at a limit of its licence or its nodes',
  noNode: 'a site without an MCU',
  nodeTimeout: 'an MCU that does not answer',
  nodeOffline: 'a room whose MCU is offline',
  roomClosed: 'a room that an operator closed',
  noP2pPermission: 'a credential without the P2P permission',
  storage: 'a database that cannot store',
  recordingUnavailable: 'a site that cannot record',
  userNotOnline: 'a room with an MCU',
  joinFailed: 'a device that refuses',
  joinTimeout: 'a device that does not answer',
  userExists: 'a device that joins',
  outgoingUserNotFound: 'a device that joins',
  createUnavailable: 'a media engine that is not running',
  destroyUnavailable: 'a media engine that is not running',
  listUnavailable: 'a media engine that is not running',
}

/**
 * Returns a verdict for each code in the table of an operation that no answer had.
 * @param answered operations with the codes that they answered, as `operation.code`
 */
function unprovokedCodes(answered: ReadonlySet<string>): Verdict[] {
  return checkedOperations.flatMap(({ api, name, errors, extension }) => {
    if (extension === true && answered.has(`${name}.${retOf(api, 'notSupported')}`)) return []
    const codes = new Map<number, ErrorName[]>()
    for (const error of errors) {
      const code = retOf(api, error)
      if (code !== undefined) codes.set(code, [...(codes.get(code) ?? []), error])
    }
    return [...codes].flatMap(([code, names]): Verdict[] => {
      if (answered.has(`${name}.${code}`)) return []
      const needs = names.map((error) => conditions[error]).find((condition) => condition !== undefined)
      return [
        {
          id: `${name}.${code}`,
          group: 'Result codes',
          sentence: `${name} answers ${code} where its table says so.`,
          source: extension === true ? contract('3') : specification('7'),
          outcome: 'notProvoked',
          reason: needs === undefined ? 'no call of this run was answered so' : `needs ${needs}`,
        },
      ]
    })
  })
}
