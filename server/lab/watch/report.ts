import type { ClientCheckView, ClientWatchView } from '../../../shared/console/clients.ts'
import {
  type ClientCheckId,
  type ClientCheckOutcome,
  clientCheckOutcome,
} from '../../../shared/domain/client-checks.ts'
import { type Language, languageOf } from '../../../shared/languages.ts'
import { serverTexts } from '../../../shared/media/server-texts.ts'
import { fill } from '../../../shared/refusals/template.ts'
import de from '../../../texts/de/console/clientChecks.json' with { type: 'json' }
import en from '../../../texts/en/console/clientChecks.json' with { type: 'json' }
import zh from '../../../texts/zh/console/clientChecks.json' with { type: 'json' }
import { cells, html, htmlPage } from '../report-page.ts'

/** Circumstances of a report. */
interface ReportOptions {
  language: Language
  /** Version of the product. */
  version: string
  /** Time of the report, in milliseconds since the epoch. */
  at: number
}

/** Returns the report about a watched client as a page to print. */
export function clientReport(watch: ClientWatchView, { language, version, at }: ReportOptions): string {
  const { clientReport: texts } = serverTexts([language]).texts
  const checks = checkTexts(language)
  const { tag } = languageOf(language)
  const facts = [
    [texts.client, watch.access_key],
    [texts.from, timeText(watch.began_at)],
    [texts.until, timeText(watch.running ? at : watch.ends_at)],
    [texts.calls, String(watch.calls)],
    [texts.made, timeText(at)],
    [texts.by, `Roomdesk ${version}`],
  ]
  const of = (outcome: ClientCheckOutcome): ClientCheckView[] =>
    watch.checks.filter((check) => clientCheckOutcome(check) === outcome)
  const [wrong, unseen, right] = [of('wrong'), of('unseen'), of('right')]
  const counts = { wrong: wrong.length, right: right.length, unseen: unseen.length }
  const heads = (...names: readonly string[]): string =>
    `<thead><tr>${names.map((name) => `<th>${html(name)}</th>`).join('')}</tr></thead>`
  const body = `<h1>${html(fill(texts.title, { label: watch.label }))}</h1>
<p class="verdict">${html(fill(checks.summary, counts))}</p>
<table>${facts.map((row) => `<tr>${cells(row)}</tr>`).join('\n')}</table>
<h2>${html(checks.groups.wrong)}</h2>
${wrong.length === 0 ? `<p>${html(checks.nothingWrong)}</p>` : wrong.map((check) => wrongCheck(check, checks)).join('\n')}
<h2>${html(checks.groups.unseen)}</h2>
<table>${heads(texts.rule, texts.source, texts.provoke)}
${unseen.map((check) => `<tr>${cells([titleOf(check, checks), check.source, provokeText(check, checks)])}</tr>`).join('\n')}</table>
<h2>${html(checks.groups.right)}</h2>
<table>${heads(texts.rule, texts.source, texts.count)}
${right.map((check) => `<tr>${cells([titleOf(check, checks), check.source, String(check.right)])}</tr>`).join('\n')}</table>
<footer>${html(fill(texts.signed, { key: watch.report_key }))}</footer>`
  return htmlPage(tag, fill(texts.title, { label: watch.label }), body)
}

function wrongCheck(check: ClientCheckView, texts: CheckTexts): string {
  const { id, source, right, wrong, example } = check
  const rows = [
    [texts.groups.wrong, String(wrong)],
    [texts.groups.right, String(right)],
    [texts.example, example === null ? '' : `${timeText(example.at)} ${example.call}`],
  ]
  const list = rows
    .map(([name = '', text = '']) => `<dt>${html(name)}</dt><dd><code>${html(text)}</code></dd>`)
    .join('')
  const head = `<p>${html(titleOf(check, texts))} <span class="source">${html(source)}</span></p>`
  return `<article>${head}<p class="source"><code>${id}</code></p><dl>${list}</dl></article>`
}

function titleOf({ id }: ClientCheckView, texts: CheckTexts): string {
  return texts.checks[id].title
}

function provokeText({ id, fault }: ClientCheckView, texts: CheckTexts): string {
  const { provoke } = texts.checks[id]
  if (fault === null) return provoke
  const { ret, delay_ms: ms, drop } = fault
  const effect = drop
    ? texts.effects.drop
    : ret === null
      ? fill(texts.effects.delay, { ms })
      : fill(texts.effects.ret, { ret })
  const operation = fault.operation === '*' ? texts.every : fault.operation
  return `${provoke} ${fill(texts.fault, { operation, effect })}`
}

/** Returns a time in UTC, to the second; empty for 0. */
function timeText(at: number): string {
  return at === 0 ? '' : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** Texts of the console's page of a watched client, which the report uses, too. */
type CheckTexts = typeof en & { checks: Readonly<Record<ClientCheckId, { title: string; provoke: string }>> }

const catalogues: Readonly<Record<Language, CheckTexts>> = { en, zh, de }

function checkTexts(language: Language): CheckTexts {
  return catalogues[language]
}
