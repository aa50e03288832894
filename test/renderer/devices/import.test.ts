import { expect, test } from 'vitest'
import ImportDialog from '../../../renderer/console/pages/devices/ImportDialog.vue'
import { readTableFile } from '../../../renderer/console/pages/devices/tableFile.ts'
import { i18n, showLanguage } from '../../../renderer/console/i18n/index.ts'
import { operator, pageText, press, says, show } from './operator-page.ts'

/** Pastes a table and checks it. */
async function paste(table: string): Promise<void> {
  await says('Or paste the table')
  const area = document.querySelector('textarea')
  if (!area) throw new Error('there is no field for the table')
  area.value = table
  area.dispatchEvent(new Event('input', { bubbles: true }))
  await press('Check table')
}

test('a table is shown line by line before anything changes, then applied', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Yard' })
  await client.call('devices.create', {
    roomId: room_id,
    userId: 'old',
    userName: 'Old',
    userAddress: 'rtsp://10.0.0.1',
  })
  await client.call('devices.create', {
    roomId: room_id,
    userId: 'same',
    userName: 'Same',
    userAddress: 'rtsp://10.0.0.2',
  })
  show(ImportDialog, client, { modelValue: true })
  await paste(
    [
      'roomId,userId,userName,userAddress',
      `${room_id},new,New,rtsp://10.0.0.3`,
      `${room_id},old,Renamed,rtsp://10.0.0.1`,
      `${room_id},same,Same,rtsp://10.0.0.2`,
      `999,lost,Lost,rtsp://10.0.0.4`,
      `${room_id},bad,Bad,http://10.0.0.5`,
      `,nowhere,Nowhere,rtsp://10.0.0.6`,
    ].join('\n'),
  )
  await says('Nothing has been changed yet')
  await says('3 lines have errors and are skipped.')
  expect(pageText()).toContain('Room not found')
  expect(pageText()).toContain('roomId is empty')
  expect(pageText()).toContain('userAddress: Must start with rtsp://')
  expect((await client.call('devices.list')).map(({ userName }) => userName)).toEqual(['Old', 'Same'])
  await press('Import 2 lines')
  await says('This is what the import did')
  expect((await client.call('devices.list')).map(({ userName }) => userName)).toEqual(['Renamed', 'Same', 'New'])
})

test("a table without a required column is refused in the operator's language", async () => {
  const client = await operator()
  await showLanguage('zh')
  show(ImportDialog, client, { modelValue: true })
  await says('或粘贴表格内容')
  const area = document.querySelector('textarea')
  if (area) area.value = 'roomId,userName\n1,Gate'
  area?.dispatchEvent(new Event('input', { bubbles: true }))
  await press('检查表格')
  await says('缺少列 userAddress')
  i18n.global.locale.value = 'en'
})

test.each([
  ['UTF-8 with a byte order mark', [0xef, 0xbb, 0xbf, 0xe9, 0x97, 0xa8], '门'],
  ['GB 18030, as Excel writes in China', [0xc3, 0xc5], '门'],
  ['UTF-16 with a byte order mark', [0xff, 0xfe, 0xe8, 0x95], '门'],
])('a file in %s is read', async (_, bytes, text) => {
  expect(await readTableFile(new Blob([new Uint8Array(bytes)]))).toBe(text)
})

test('a workbook is not accepted as a table', async () => {
  await expect(readTableFile(new Blob(['PK\u0003\u0004\u0014\u0000']))).rejects.toMatchObject({ problem: 'notText' })
})
