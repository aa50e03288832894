import { type ErrorName, retOf } from '../../../shared/result-codes.ts'
import { checkedOperations } from './operations.ts'
import { contract, specification, type Verdict } from './verdict.ts'

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
export function unprovokedCodes(answered: ReadonlySet<string>): Verdict[] {
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
