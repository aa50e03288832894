/**
 * A site whose rooms are on a Janus server: `npm run bench -- janus`, or one of its rows. Measures calls beside those of Janus itself, in one run; and the capacity of one server for
 * cameras, viewers and users, as `media` and `many` measure it for the embedded node.
 */
import { measureCalls } from './janus/calls.ts'
import { measureCameras, measureViewers } from './janus/cameras.ts'
import { measurePeople } from './janus/people.ts'

const rows: Readonly<Record<string, () => Promise<void>>> = {
  calls: measureCalls,
  cameras: measureCameras,
  viewers: measureViewers,
  people: measurePeople,
}

/** Measures into the table; four minutes. @param asked only these rows; empty: all @throws Error for an unknown row */
export async function measureJanus(asked: readonly string[] = []): Promise<void> {
  const unknown = asked.filter((name) => !(name in rows))
  if (unknown.length > 0) throw new Error(`no ${unknown.join(', ')}: choose of ${Object.keys(rows).join(', ')}`)
  for (const [name, measure] of Object.entries(rows)) {
    if (asked.length === 0 || asked.includes(name)) await measure()
  }
}

if (import.meta.main) await measureJanus(process.argv.slice(2))
