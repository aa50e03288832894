import { type CommandContext, type ExitCode, exitCodes, writeReport } from '../command.ts'
import { Cameras, type OpenCamera } from './cameras.ts'
import { ApiClient } from './client.ts'
import { judge } from './judge.ts'
import { readOptions } from './options.ts'
import { countOutcomes, isLockedOut, jsonReport, tableReport } from './report.ts'
import { allRules } from './rules/all-rules.ts'
import { signPage } from '../signed-page.ts'
import { openSession } from './sign-in.ts'

/**
 * Runs the command `roomdesk conformance`: judges a server of the API from outside.
 * @param openCamera starts a camera on this machine that streams
 */
export async function runConformance(
  { arguments: given, environment, version, signal, print, warn }: CommandContext,
  openCamera: () => Promise<OpenCamera>,
): Promise<ExitCode> {
  const { target, camera, documents, junit, json, html, key } = await readOptions(given, environment)
  const client = new ApiClient(target)
  const cameras = new Cameras(target.device, camera, openCamera)
  const began = performance.now()
  const startedAt = new Date().toISOString()
  try {
    const notice = await openSession(client, signal)
    if (notice !== undefined) warn(notice)
    const groups = allRules.map(({ title, rules }) => ({
      title,
      rules: rules.filter(({ source }) => documents.includes(source.document)),
    }))
    const judgement = await judge({ client, cameras, groups, documents, signal })
    const milliseconds = Math.round(performance.now() - began)
    const { media, device } = target
    const report = {
      ...judgement,
      media: media.href,
      device: device.href,
      checkedBy: `Roomdesk ${version}`,
      startedAt,
      milliseconds,
    }
    for (const line of tableReport(report)) print(line)
    if (json !== undefined) await writeReport(json, jsonReport(report))
    if (html !== undefined) {
      const page = (await import('./html-report.ts')).htmlReport(report)
      await writeReport(html, key === undefined ? page : signPage(page, key))
      if (key !== undefined) print(`${html} is signed with the key ${key.name}.`)
    }
    if (junit !== undefined) await writeReport(junit, (await import('./junit-report.ts')).junitReport(report))
    // Without sign-ins, a rule may be broken for that reason alone.
    if (report.interrupted || isLockedOut(report.verdicts)) return exitCodes.noVerdict
    return countOutcomes(report.verdicts).broken === 0 ? exitCodes.fine : exitCodes.found
  } catch (error) {
    if (!signal.aborted) throw error
    warn('Interrupted before the first rule.')
    return exitCodes.noVerdict
  } finally {
    cameras.close()
  }
}
