import type { EventFields, EventSubject } from '../../shared/domain/events.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import type { PlannedChange } from '../store/change-cause.ts'
import type { Store } from '../store/store.ts'
import { type RecordType, recordTypeOf, stateOf, subjectOf } from './site-state.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import { isSecret, withoutSecretText } from '../observe/redaction/log-fields.ts'
import { redacted, textLength } from '../observe/redaction/plain-text.ts'

/** A record that a transaction changes, with the changed fields. */
interface ChangedRecord {
  subject: EventSubject
  before: EventFields
  after: EventFields
}

/**
 * Returns the records of these types that a transaction changes, without secrets. Records whose visible fields stay the
 * same are left out.
 */
export function changedRecords(
  planned: PlannedChange,
  wanted: readonly RecordType[],
  store: Pick<Store, 'unseal'>,
): ChangedRecord[] {
  const [old, young] = [withSecrets(planned.before, store), withSecrets(planned.after, store)]
  const found = new Map<string, ChangedRecord>()
  for (const { collection, key } of planned.changes) {
    const type = recordTypeOf(collection)
    if (type === undefined || !wanted.includes(type)) continue
    const changes = difference(stateOf(old, type, key), stateOf(young, type, key))
    if (changes === undefined) continue
    const now = subjectOf(young, type, key)
    found.set(`${type} ${key}`, { subject: now.name === '' ? subjectOf(old, type, key) : now, ...changes })
  }
  return [...found.values()]
}

function withSecrets(reader: RecordReader, store: Pick<Store, 'unseal'>): Pick<Store, 'get' | 'unseal'> {
  return {
    get: (collection, key) => reader.get(collection, key),
    unseal: (sealed, place) => store.unseal(sealed, place),
  }
}

type Scalar = EventFields[string]

/** Returns the changed fields of a state by path, without secrets; undefined: none. */
function difference(
  before: object | undefined,
  after: object | undefined,
): { before: EventFields; after: EventFields } | undefined {
  const [old, young] = [flat(before), flat(after)]
  const changed = [...new Set([...old.keys(), ...young.keys()])].filter((path) => old.get(path) !== young.get(path))
  if (changed.length === 0) return undefined
  const part = (fields: ReadonlyMap<string, Scalar>): EventFields =>
    Object.fromEntries(
      changed.flatMap((path) => {
        const value = fields.get(path)
        return value === undefined ? [] : [[path.replace(/_sealed$/, ''), shown(path, value)]]
      }),
    )
  return { before: part(old), after: part(young) }
}

/** Flattens a document to values by path, e.g. `media.ice_servers.0.username`. */
function flat(value: unknown, path = '', fields = new Map<string, Scalar>()): Map<string, Scalar> {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null) {
    fields.set(path, value)
  } else if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    fields.set(path, value.join(', '))
  } else if (typeof value === 'object') {
    for (const [name, part] of Object.entries(value)) flat(part, path === '' ? name : `${path}.${name}`, fields)
  }
  return fields
}

/**
 * Returns the form of a value for the log: a placeholder for a secret, a camera address without its login, the length
 * of a caller's free text.
 */
function shown(path: string, value: Scalar): Scalar {
  if (typeof value !== 'string' || value === '') return value
  const name = path.slice(path.lastIndexOf('.') + 1)
  if (isSecret(name, value) || name.endsWith('_sealed')) return redacted
  if (name === 'userAddress' || name === 'assist_address') return shownAddress(value)
  if (path.startsWith('options.') || name === 'userData') return textLength(value)
  return withoutSecretText(value)
}
