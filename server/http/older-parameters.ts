import { createOutgoingUser } from '../../shared/device-operations.ts'
import { createRoom, getMcu } from '../../shared/media-operations.ts'
import { doubleQuoted } from './parameters.ts'

type Options = string | Record<string, unknown> | undefined

/** Text that a script sends for an argument that was not specified. */
const notGiven = 'undefined'
const singleQuoted = /^\s*\{\s*'/

/**
 * Corrects `options` of older clients: the text `undefined` means no options, and single quotes become double quotes.
 */
export function optionsAsMeant<O extends Options>(options: O): O | string | undefined {
  if (typeof options !== 'string') return options
  return options.trim() === notGiven ? undefined : doubleQuoted(options)
}

/** Whether an operation accepts these parameters only from older clients. */
export function isSentByOlderClients(operation: string, params: ReadonlyMap<string, unknown>): boolean {
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
