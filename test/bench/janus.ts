/**
 * A site whose rooms are on a Janus server: `npm run bench -- janus`, or one of its rows. Calls beside what Janus itself answers, in one run; and what one server carries of
 * cameras, viewers and people, as `media` and `many` measure it of the embedded node.
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

/** Measures into the table; four minutes. @param asked only these rows; empty: all @throws Error when there is no such row */
export async function measureJanus(asked: readonly string[] = []): Promise<void> {
  const unknown = asked.filter((name) => !(name in rows))
  if (unknown.length > 0) throw new Error(`no ${unknown.join(', ')}: choose of ${Object.keys(rows).join(', ')}`)
  for (const [name, measure] of Object.entries(rows)) {
    if (asked.length === 0 || asked.includes(name)) await measure()
  }
}

if (import.meta.main) await measureJanus(process.argv.slice(2))
