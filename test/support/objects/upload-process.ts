import { soleLeadership } from '../../../server/store/leadership.ts'
import { pino } from 'pino'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import { ObjectStorage } from '../../../server/recordings/objects/object-storage.ts'
import type { ObjectStorageSettings } from '../../../shared/settings/recording.ts'
import { createSealer } from '../../../server/store/sealer.ts'

/** A process that uploads the recordings of a folder until it is killed. Arguments: folder, settings as JSON. */
const [, , folder = '', text = '{}'] = process.argv
const settings = JSON.parse(text) as ObjectStorageSettings
const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: () => {} })
new ObjectStorage({
  ...{ folder, index, logger: pino({ level: 'silent' }) },
  store: {
    ...createSealer(Buffer.alloc(32, 7)),
    leadership: soleLeadership({ get: () => undefined, all: () => new Map() }),
  },
  settings: () => settings,
  sitePorts: () => [],
  isSettled: () => true,
  failing: () => {},
  firstRetryMs: 20,
}).start()
// Nothing else keeps it alive.
setInterval(() => {}, 1_000)
