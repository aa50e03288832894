import { z } from 'zod'
import { act, change, lasting, read } from './declare.ts'
import { done, fieldProblem, moment, emptyOutcome } from '../domain/outcome.ts'
import { admin, person } from './procedure-access.ts'
import { subject, unrecorded } from './procedure-events.ts'
import { accessChange, backupProofs } from '../domain/backups.ts'

const backupView = z.strictObject({
  name: z.string(),
  at: moment,
  bytes: z.int(),
  /** Whether the backup is kept until an operator deletes it. */
  kept: z.boolean(),
  /** Whether the file was uploaded. */
  uploaded: z.boolean(),
  proof: z.enum(backupProofs),
})
/** Id of an upload in progress. */
const uploadName = z.string().regex(/^[0-9a-z]{1,36}$/)
/** Maximum number of bytes per read of a backup. */
export const backupPart = 1024 * 1024
const backupName = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\w.-]+$/),
})

const recordCounts = {
  rooms: z.int(),
  credentials: z.int(),
  nodes: z.int(),
  devices: z.int(),
  accounts: z.int(),
  access_tokens: z.int(),
  wall_views: z.int(),
}

/** Content of a backup, compared with the current state of the site. */
const backupPreview = z.strictObject({
  name: z.string(),
  at: moment,
  ...recordCounts,
  now: z.strictObject(recordCounts),
  /** Accounts and access tokens that are added, removed or changed; the first hundred of `access_total`. */
  access: z.array(accessChange),
  access_total: z.int(),
  proof: z.enum(backupProofs),
  /**
   * Whether this caller may restore the backup. A backup of another site can be restored only on the machine itself.
   */
  restorable: z.boolean(),
})

export const backupProcedures = {
  'backups.list': read({
    summary: 'Backups, newest first.',
    input: emptyOutcome,
    output: z.array(backupView),
    access: admin('backups:read'),
    refreshOn: ['store.noticed'],
  }),
  'backups.make': change({
    summary: 'Make a backup now. It stays until it is deleted.',
    input: emptyOutcome,
    output: backupView,
    access: admin('backups:write'),
    event: { outside: 'files', made: ({ name }) => [subject.backup(name)] },
  }),
  'backups.keep': change({
    summary: 'Keep a backup until it is deleted, or let it go in its time.',
    input: backupName.extend({ kept: z.boolean() }),
    output: done,
    access: admin('backups:write'),
    event: {
      outside: 'files',
      subjects: ({ name }) => [subject.backup(name)],
      facts: ({ kept }) => ({ kept: String(kept) }),
    },
  }),
  'backups.delete': change({
    summary: 'Delete a backup.',
    input: backupName,
    output: done,
    access: person('admin'),
    event: { outside: 'files', subjects: ({ name }) => [subject.backup(name)] },
  }),
  'backups.read': act({
    summary:
      'A part of a backup as a tar archive, in base64, and the bytes of the whole. The secrets in it are sealed with the key of this site.',
    input: backupName.extend({ offset: z.int().min(0), length: z.int().min(1).max(backupPart).default(backupPart) }),
    output: z.strictObject({ data: z.string(), total: z.int() }),
    access: person('admin'),
    event: {
      subjects: ({ name }) => [subject.backup(name)],
      continues: ({ offset }) => offset > 0,
    },
  }),
  'backups.write': change({
    summary: 'Upload a part of a backup that was downloaded, in base64, one after the other from offset 0.',
    input: z.strictObject({ upload: uploadName, offset: z.int().min(0), data: z.base64().max(2 * backupPart) }),
    output: done,
    access: person('admin'),
    event: unrecorded('a part of an upload; backups.add is recorded'),
  }),
  'backups.add': change({
    summary: 'Put what was uploaded among the backups, once it is found whole and of this site. Nothing is restored.',
    input: z.strictObject({ upload: uploadName }),
    output: backupView,
    access: person('admin'),
    event: { outside: 'files', made: ({ name }) => [subject.backup(name)] },
  }),
  'backups.preview': read({
    summary: 'What a backup holds, against what is there.',
    input: backupName,
    output: backupPreview,
    access: admin('backups:read'),
  }),
  'backups.restore': lasting({
    summary:
      'Put a backup in place of the current state, which is backed up first. One that this site did not make is restored on the machine itself only. Listeners and certificate follow; problems say what of them cannot.',
    input: backupName,
    output: z.strictObject({ problems: z.array(fieldProblem) }),
    access: person('admin'),
    event: {
      collection: 'any',
      subjects: () => [subject.site, subject.settings],
      facts: ({ name }) => ({ backup: name }),
    },
  }),
}
