import type { StoredDeleter, StoredTrash } from './records.ts'

/** Authors that are remembered. */
const maxAuthors = 1_000

const authors = new Map<string, StoredDeleter>()
const noDevices = Object.freeze([])
let latestBatch = ''

/**
 * Returns an entry of the trash that shares with the others what is often the same: its author, the name of its call, and the empty list of devices. The trash is as
 * long as the site, and each of these would be an object of its own in every entry that is read from the disk.
 */
export function withSharedParts(entry: StoredTrash): StoredTrash {
  if (entry.batch === latestBatch) entry.batch = latestBatch
  else latestBatch = entry.batch
  entry.deleted_by = shared(entry.deleted_by)
  if (entry.kind === 'rooms' && entry.devices.length === 0) entry.devices = noDevices
  return entry
}

function shared(author: StoredDeleter): StoredDeleter {
  const key = `${author.type}/${author.name}`
  const known = authors.get(key)
  if (known !== undefined) return known
  if (authors.size >= maxAuthors) authors.clear()
  authors.set(key, author)
  return author
}
