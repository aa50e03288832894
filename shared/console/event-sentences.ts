import { type CapabilityKind, capabilityKinds } from './capabilities.ts'
import type { RecordedProcedure } from './contract.ts'
import { type EventEntry, eventKinds, type EventKind } from '../domain/events.ts'
import { recordedProcedures } from './procedure-facts.ts'

const guessKinds = ['badLink', 'hostPasswordWrong', 'tooMany'] as const
const leadReasons = ['lost', 'byHand'] as const

/** Kinds of events whose sentence depends on the event's values. */
type ManifoldKind = 'site.changed' | 'link.used' | 'guesses.refused'

/**
 * Names of event sentences. The console has a text for each name in every language: a name without a text does not
 * compile.
 */
type SentenceName =
  | `kinds.${Exclude<EventKind, ManifoldKind>}`
  | `kinds.link.used.${CapabilityKind}`
  | `kinds.guesses.${(typeof guessKinds)[number]}`
  | `kinds.signIn.${'refusedFor' | 'blocked' | 'blockedFor'}`
  | `kinds.store.${'ofDatabase' | 'databaseRefuses' | 'databaseTakes'}`
  | `kinds.leader.changedFor.${(typeof leadReasons)[number]}`
  | 'kinds.controller.startedAfter'
  | 'kinds.log.torn'
  | 'kinds.node.onlineAgain'
  | 'kinds.device.joinedAgain'
  | `changes.${RecordedProcedure | 'siteFile'}`
  | 'unknown'
  | 'unknownChange'

/** Part of an event that selects its sentence. */
type Told = Pick<EventEntry, 'kind' | 'params'>

/** Pattern of the store's notice about a database that refuses changes, with the reason. */
export const refusedByDatabase = /^The database does not take the \w+ \((.+)\)\./

const recorded: ReadonlySet<string> = new Set<string>(recordedProcedures)
const kinds: ReadonlySet<string> = new Set<string>(eventKinds)

/**
 * Returns the name of an event's sentence; `unknown` or `unknownChange` for kinds and procedures of another version of
 * the controller.
 */
export function sentenceName({ kind, params }: Told): SentenceName {
  switch (kind) {
    case 'site.changed':
      return changeName(String(params.procedure))
    case 'link.used': {
      const link = capabilityKinds.find((one) => one === params.link)
      return link === undefined ? 'unknown' : `kinds.link.used.${link}`
    }
    case 'guesses.refused': {
      const guess = guessKinds.find((one) => one === params.guess)
      return guess === undefined ? 'unknown' : `kinds.guesses.${guess}`
    }
    case 'signIn.refused': {
      const which = params.blocked === true ? 'blocked' : 'refused'
      return params.account === undefined ? `kinds.signIn.${which}` : `kinds.signIn.${which}For`
    }
    case 'store.noticed':
      return noticeName(String(params.message))
    case 'controller.started':
      return params.last_seen === undefined ? `kinds.${kind}` : 'kinds.controller.startedAfter'
    case 'log.recovered':
      return params.fault === '' ? 'kinds.log.torn' : `kinds.${kind}`
    case 'node.online':
    case 'device.joined':
      return params.away_ms === undefined ? `kinds.${kind}` : `kinds.${kind}Again`
    case 'leader.changed': {
      const why = leadReasons.find((one) => one === params.why)
      return why === undefined ? `kinds.${kind}` : `kinds.leader.changedFor.${why}`
    }
    default:
      return kinds.has(kind) ? `kinds.${kind}` : 'unknown'
  }
}

function changeName(procedure: string): SentenceName {
  if (procedure === 'siteFile') return 'changes.siteFile'
  return recorded.has(procedure) ? (`changes.${procedure}` as `changes.${RecordedProcedure}`) : 'unknownChange'
}

/** Returns the name of the sentence for a notice of the store. */
function noticeName(message: string): SentenceName {
  if (refusedByDatabase.test(message)) return 'kinds.store.databaseRefuses'
  if (message.startsWith('The database takes changes again')) return 'kinds.store.databaseTakes'
  return /^The database\b/.test(message) ? 'kinds.store.ofDatabase' : 'kinds.store.noticed'
}
