import type { EventFields, EventSubject } from '../../shared/console/events.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import type { PlannedChange } from '../store/change-cause.ts'
import type { Store } from '../store/store.ts'
import { difference } from './record-difference.ts'
import { type RecordType, recordTypeOf, stateOf, subjectOf } from './site-state.ts'

/** A record that a transaction changes, with the fields that differ. */
interface ChangedRecord {
  subject: EventSubject
  before: EventFields
  after: EventFields
}

/** Records of these types that a transaction changes, without secrets. Records whose visible fields stay the same are left out. */
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
