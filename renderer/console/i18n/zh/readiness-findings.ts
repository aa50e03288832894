import type { findingTexts as english } from '../../../../shared/console/readiness-findings.ts'
import type { Texts } from '../text.ts'

const none = ''
const tryPhone = '用手机扫描本页的二维码：请求能到达，就说明没有被拦截。'
const runAgain = '请重新检查。如仍如此，请保存诊断信息并反馈。'

/** Sentences of the findings of readiness checks. */
export const readinessFindings: Texts<typeof english> = {
  portsReachable: { message: '全部 {count} 个端口正在监听，并可通过 {address} 访问。', advice: none },
  portsLocal: { message: '全部 {count} 个端口正在监听，仅对本机开放。', advice: none },
  portsDown: {
    message: '未监听：{ports}。{reason}',
    advice: '在“设置 - 网络”中换一个空闲端口，或结束占用端口的程序。',
  },
  portsSilent: {
    message: '以下端口正在监听，但通过 {address} 没有响应：{ports}。',
    advice: '在“设置 - 网络”中重启监听服务。也可能被本机的安全软件拦截。',
  },
  portsNoNetwork: { message: '端口正在监听，但本机没有网络地址。', advice: '连接网络后重新检查。' },
  phoneArrived: { message: '设备 {client} 打开了页面：本机可以访问。', advice: none },
  phoneWaiting: { message: '还没有其他设备打开页面。', advice: '用同一网络中的手机扫描二维码。' },
  phoneLocal: {
    message: '端口仅对本机开放：手机无法连接。',
    advice: '如需其他人用自己的设备加入，请在“设置 - 网络”中把监听地址改为 0.0.0.0。',
  },
  phoneNoNetwork: { message: '本机没有网络地址。', advice: '连接网络后重新检查。' },
  phoneNoPage: { message: '本机没有提供页面的媒体节点。', advice: none },
  firewallNone: { message: '没有发现启用的防火墙。', advice: none },
  firewallPasses: { message: '设备 {client} 已成功访问：没有被防火墙拦截。', advice: none },
  firewallAllows: { message: '{name} 已启用，并允许 Roomdesk。', advice: none },
  firewallLocal: { message: '端口仅对本机开放，与防火墙无关。', advice: none },
  firewallActive: {
    message: '{name} 已启用。没有管理员权限无法读取其规则。',
    advice: '如果手机无法连接，请放行这些端口：{ports}。',
  },
  firewallBlocks: { message: '{name} 拦截了 Roomdesk。', advice: '请在 {name} 的设置中允许 Roomdesk 使用专用网络。' },
  firewallUnknown: { message: '系统未说明是否启用了防火墙。', advice: tryPhone },
  encryptionOn: { message: '所有端口均使用 TLS。', advice: none },
  encryptionLocal: { message: '端口使用明文 HTTP，仅限本机访问。', advice: none },
  encryptionProxy: { message: '端口使用明文 HTTP；人员通过 {url} 访问。', advice: none },
  encryptionOff: {
    message: '明文 HTTP 已对网络开放（{ports}）：他人可读取密码和令牌，其他设备上的人无法使用摄像头和麦克风。',
    advice: '请在“设置 → 网络”中选择证书。',
  },
  ffmpegWhole: { message: 'ffmpeg {version} 可转换视频（{encoder}）和音频（Opus）。', advice: none },
  ffmpegPart: {
    message: 'ffmpeg {version} 缺少编码器：{missing}。需要它的摄像头无法转换。',
    advice: '请安装包含 libx264 和 libopus 的 ffmpeg，然后重启 Roomdesk。',
  },
  ffmpegMissing: {
    message: '没有找到 ffmpeg。使用 H.265 或 AAC 的摄像头在浏览器中没有画面或声音。',
    advice: '请安装 ffmpeg：apt install ffmpeg、winget install ffmpeg 或 brew install ffmpeg。无需重启。',
  },
  ffmpegBroken: { message: 'ffmpeg 无法使用：{reason}', advice: '请重新安装，或用 --ffmpeg 指定另一个。' },
  keyKeychain: { message: '密钥由本会话的钥匙串保护（{backend}）。', advice: none },
  keyFile: { message: '密钥保存在只有当前用户可读的文件中。', advice: none },
  keyOpen: { message: '本机的其他用户可以读取密钥（权限 {mode}）。', advice: '请收紧文件权限：chmod 600 {file}' },
  keyPlain: {
    message: '没有钥匙串保护密钥（{backend}）：它保存在只有当前用户可读的文件中。',
    advice: '请安装并解锁钥匙串（GNOME Keyring 或 KWallet），然后重启 Roomdesk。',
  },
  diskFast: { message: '一次持久写入需 {median_ms}，最慢 {worst_ms}（共 {count} 次）。', advice: none },
  diskSlow: {
    message: '一次持久写入需 {median_ms}，最慢 {worst_ms}（共 {count} 次）。更改和录制都要等待它。',
    advice: '请把数据文件夹移到 SSD 上，不要放在网络驱动器上。',
  },
  diskRefused: { message: '数据文件夹无法写入：{reason}', advice: '请检查文件夹权限、配额和可用空间。' },
  spaceEnough: { message: '可用 {free_bytes}，共 {total_bytes}。', advice: none },
  spaceLow: {
    message: '{folder} 仅剩 {free_bytes}，共 {total_bytes}。',
    advice: '请删除不需要的内容，或缩短录像保留时间。',
  },
  clockSynchronised: { message: '本机时钟已同步。', advice: none },
  clockFree: {
    message: '本机时钟未同步。事件、日程和链接的时间可能不准。',
    advice: '请开启网络时间：{command}',
  },
  clockUnknown: { message: '系统未说明时钟是否同步。', advice: '请与可靠的时钟比对。' },
  cameraClocksAgree: { message: '所有给出时钟的摄像头都与本机一致（{count} 个）。', advice: none },
  cameraClocksNone: { message: '没有摄像头加入房间。', advice: none },
  cameraClocksDiffer: {
    message: '与本机时间不同的摄像头：{count} 个（时:分:秒：{cameras}）。其画面中的时间与录像和事件不符。',
    advice: '请在每个摄像头的设置中开启网络时间（NTP）并设置时区。如果全部不符，请校正本机时钟。',
  },
  cameraClocksUnknown: {
    message: '没有摄像头给出时钟。摄像头通过 RTP 发送方报告向内置节点给出时钟。',
    advice: '请将其画面中的时间与可靠的时钟比对。',
  },
  trayShown: { message: '此桌面会显示托盘图标。', advice: none },
  trayMissing: {
    message: '此桌面不显示托盘图标：窗口关闭后，再次启动 Roomdesk 即可打开。',
    advice: '在 GNOME 上请安装 AppIndicator Support 扩展。',
  },
  trayUnknown: { message: '此桌面未说明是否显示托盘图标。', advice: '请在面板中查找 Roomdesk 图标。' },
  sandboxOn: { message: '页面在沙箱中运行。', advice: none },
  sandboxOff: { message: '页面没有在沙箱中运行。', advice: '请使用安装包，并以非 root 用户启动 Roomdesk。' },
  wallsPlaced: { message: '监控墙会在所选的显示器上打开。', advice: none },
  wallsUnplaced: {
    message: '此会话使用 Wayland：每面监控墙的显示器由桌面决定，而不是由 Roomdesk 决定。',
    advice: '请退出 Roomdesk，并用 roomdesk --ozone-platform=x11 启动。',
  },
  powerAwake: { message: '房间使用期间，本机保持唤醒。', advice: none },
  powerBattery: { message: '本机正在使用电池。', advice: '请接通电源：电量耗尽会中断所有会议和录制。' },
  powerSleeps: {
    message: '房间使用期间，本机可能进入睡眠，会中断所有会议和录制。',
    advice: '请在“文件”菜单中选择“房间内有人或设备时阻止电脑休眠”。',
  },
  powerIdleSleeps: {
    message: '连续 {minutes} 分钟没有房间使用时，本机会进入睡眠，届时无人能够加入。',
    advice: '请在系统的电源设置中关闭睡眠。',
  },
  powerUnknown: {
    message: '房间使用期间，本机保持唤醒。系统未说明其他时间是否会睡眠。',
    advice: '请查看系统的电源设置：睡眠期间无人能够加入。',
  },
  checkTimedOut: { message: '{seconds} 秒内没有结果。', advice: runAgain },
  checkFailed: { message: '检查失败：{reason}', advice: runAgain },
}
