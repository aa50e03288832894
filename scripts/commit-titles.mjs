// Refuses commits whose title is not `area: imperative summary` of at most 72 characters. Older commits, from before this rule, are left alone.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const maxLength = 72
const form = /^[a-z0-9][a-z0-9 ,./()-]*: \S/

/** @param {string[]} arguments_ @returns {string} empty where git has no answer */
function git(...arguments_) {
  const { status, stdout } = spawnSync('git', arguments_, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout : ''
}

const since = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/commit-titles.mjs').trim().split('\n').at(-1)
if (since) {
  const titles = git('log', '--no-merges', '--format=%h %s', `${since}..HEAD`).split('\n').filter(Boolean)
  const refused = titles.filter((line) => {
    const title = line.slice(line.indexOf(' ') + 1)
    return title.length > maxLength || !form.test(title)
  })
  for (const line of refused) console.error(`Not \`area: imperative summary\` within ${maxLength} characters: ${line}`)
  process.exitCode = refused.length === 0 ? 0 : 1
}
