import type { HolderPage, HolderPages } from '../../capabilities/holder-pages.ts'
import { answerFile } from './byte-answer.ts'
import { recordPath, type RecordFiles } from './record-files.ts'

/** Content types of files. */
export const containerTypes = { mp4: 'video/mp4', webm: 'video/webm' } as const

/** `GET /record/<file>`: the file of a recording for whoever has its address, as long as the recording and its capability exist. */
export function recordDownload(pages: HolderPages, files: RecordFiles): HolderPage {
  return pages.page({
    kinds: ['recording'],
    read: (path) => {
      if (!path.startsWith(recordPath)) return undefined
      const file = path.slice(recordPath.length)
      return { token: files.tokenIn(file), file }
    },
    serve: async (request) => {
      const found = files.find(request)
      if (found === undefined || !(await answerFile(request, found.open))) return false
      request.context.type = containerTypes[found.file.container]
      request.context.set('Content-Disposition', `inline; filename="${found.file.file}"`)
      return true
    },
  })
}
