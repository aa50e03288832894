// Languages: those preferred by the system, and those for which this app has files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Lists the languages for which the packed app has files of Chromium (`electronLanguages` of electron-builder.yml). */
function shipped() {
  const text = readFileSync(join(import.meta.dirname, '../../electron-builder.yml'), 'utf8')
  const list = /^electronLanguages: *\[(.*)\]$/m.exec(text)?.[1]
  if (list === undefined) throw new Error('stand-in: every language of Chromium is not modelled')
  return list.split(',').map((name) => name.trim())
}

/** Works like `g_get_language_names`: `LANGUAGE`, or the first locale that is set; each followed by its language; without encodings and the C locale. */
export function preferredLanguages(environment = process.env) {
  const locale = environment.LC_ALL || environment.LC_MESSAGES || environment.LANG || 'C'
  const list = locale === 'C' ? [] : (environment.LANGUAGE || locale).split(':')
  const names = list.map((name) => name.replace(/[.@].*$/, '').replace('_', '-'))
  const known = names.filter((name) => name !== '' && name !== 'C' && name !== 'POSIX')
  return [...new Set(known.flatMap((name) => [name, name.split('-')[0]]))]
}

/** Chromium's `CheckAndResolveLocale` (ui/base/l10n/l10n_util.cc): the language itself, its replacement among regions, or American English. */
export function resolveLocale(wanted, available = shipped()) {
  for (const name of wanted) {
    const [language, region = ''] = name.split('-')
    const regional =
      language === 'zh'
        ? ['TW', 'HK', 'MO', 'Hant'].includes(region)
          ? 'zh-TW'
          : 'zh-CN'
        : language === 'en'
          ? ['AU', 'CA', 'GB', 'IE', 'IN', 'NZ', 'ZA'].includes(region)
            ? 'en-GB'
            : 'en-US'
          : language
    const found = [name, regional].find((candidate) => available.includes(candidate))
    if (found !== undefined) return found
  }
  return 'en-US'
}
